"""What a segment has told already is told shortly, and reads back as the very same records."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
from journal_samples import DAY, journal_in, put_all

from firmware.journal import reader, segment
from firmware.journal.around import FeatureText, SurroundingsText, read, written
from firmware.journal.folder import Storage
from firmware.journal.recall import Recall, again
from firmware.journal.record import Record, RecordError, encode
from firmware.journal.segment import TOPIC_IDS
from firmware.readings import (
    Channel,
    Engine,
    Feature,
    Light,
    Missing,
    Reading,
    Surroundings,
    Tether,
    TetherState,
    Why,
)

LIGHT = Reading(Channel.LIGHT_HEAD, Light(850.0, 170.0), 100.0, "bh1750", 1.75)
TOWN = "/reading/surroundings"
TETHER = Reading(Channel.TETHER, Tether(TetherState.IN), 100.0, "gpio17", 2.5)


def _house(number: int, east: float = 0.0) -> Feature:
    west, south = -88.45 + number / 1e4 + east, 44.05
    ring = ((west, south), (west + 1e-4, south), (west, south + 1e-4), (west, south))
    part = tuple((round(lon, 7), round(lat, 7)) for lon, lat in ring)
    return Feature("dwelling", str(number), "", "polygon", (part,), {"confidence": "possible"})


def _around(*features: Feature) -> Surroundings:
    return Surroundings(44.05, -88.45, 1500.0, features, ("town.gpkg",), ("2026-11",))


def _kept(folder: Path, given: list[tuple[float, Record]]) -> list[bytes]:
    """Puts these into a journal that is read back as the same; its messages as they stand."""
    journal = journal_in(folder)
    journal.open()
    put_all(journal, ((at_s, DAY, record, False) for at_s, record in given))
    assert journal.close(200.0, timeout_s=60.0)
    assert list(reader.read(folder))[1:-1] == given
    (path,) = reader.segments(folder)
    content = path.read_bytes()
    spans = segment.scan(content).chunks
    messages = (one for span in spans for one in segment.unpacked(span.content(content)))
    return [one.text for one in messages if one.topic_id != TOPIC_IDS["/seal"]][1:-1]


def test_sensors_that_say_the_same_at_one_instant_are_one_message(tmp_path: Path) -> None:
    said = [
        (100.0, LIGHT), (100.0, TETHER),
        (101.0, replace(LIGHT, mono_s=100.875)), (101.0, replace(TETHER, mono_s=101.0)),
        (102.0, replace(LIGHT, value=Light(3.0, 3.1), mono_s=102.0)),
        (102.0, replace(TETHER, mono_s=102.0)),
        (103.0, replace(LIGHT, value=Missing(Why.STALE, "x"), mono_s=103.0)),
        (104.0, replace(LIGHT, value=Missing(Why.STALE, "x"), mono_s=104.0)),
    ]  # fmt: skip
    texts = _kept(tmp_path / "journal", said)
    assert [text for text in texts if b"channels" in text] == [
        b'{"at_s":101.000,"channels":["light.head","tether"],"mono_s":[100.875,101.000]}',
        b'{"at_s":102.000,"channels":["tether"],"mono_s":[102.000]}',
        b'{"at_s":104.000,"channels":["light.head"],"mono_s":[104.000]}',
    ]
    assert len(texts) == 7


def test_what_stays_in_sight_is_told_once(tmp_path: Path) -> None:
    sights = [
        _around(*map(_house, range(6))),
        _around(*map(_house, range(2, 8))),
        _around(_house(2, 0.5), *map(_house, range(3, 6)), _house(7)),
        _around(),
        _around(_house(7)),
    ]
    given = [
        (100.0 + number, Reading(Channel.SURROUNDINGS, one, 100.0 + number, "zones:town.gpkg"))
        for number, one in enumerate(sights)
    ]
    told = [json.loads(text)["value"]["features"] for text in _kept(tmp_path / "journal", given)]
    in_full = [[one["id"] for one in some if "count" not in one] for some in told]
    assert in_full == [["0", "1", "2", "3", "4", "5"], ["6", "7"], ["2"], [], ["7"]]
    assert told[1][0] == {"first": 2, "count": 4}
    assert told[2][1:] == [{"first": 1, "count": 3}, {"first": 5, "count": 1}]
    assert told[4][0]["corners"] == [
        [-884493000, 440500000, 1000, 0, -1000, 1000, 0, -1000],
    ]


def test_each_segment_stands_for_itself(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    same = [(100.0 + number * 1800.0, LIGHT) for number in range(4)]  # a segment is an hour old
    around = Reading(Channel.SURROUNDINGS, _around(_house(1)), 100.0, "zones")
    given = [(at_s, one) for at_s, light in same for one in (replace(light, mono_s=at_s), around)]
    put_all(journal, ((at_s, DAY, record, False) for at_s, record in given))
    assert journal.close(9000.0, timeout_s=60.0)
    paths = reader.segments(tmp_path / "journal")
    assert len(paths) == 2
    for path, part in zip(paths, (given[:4], given[4:]), strict=True):
        assert list(reader.read(path))[1:-1] == part


class RefusingOnce(Storage):
    """A disk that is full at one write."""

    is_full = False

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        if self.is_full:
            self.is_full = False
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(descriptor, content, offset)


def test_what_the_disk_refused_was_not_told(tmp_path: Path) -> None:
    disk = RefusingOnce()
    journal = journal_in(tmp_path / "journal", storage=disk)
    journal.open()
    assert put_all(journal, [(100.0, DAY, TETHER, False)])
    disk.is_full = True
    around = Reading(Channel.SURROUNDINGS, _around(_house(1)), 101.0, "zones")
    light = replace(LIGHT, mono_s=101.0)
    for record in (around, light):
        journal.put(record, 101.0, DAY)
    assert journal.flush(60.0)
    assert not disk.is_full
    assert journal.close(102.0, timeout_s=60.0)
    got = [one for _, one in reader.read(tmp_path / "journal")]
    assert got[1:-1] == [TETHER, around, light]


def test_a_map_that_is_on_no_grain_reads_back_to_the_bit() -> None:
    odd = Feature("person", "p", "", "point", (((-88.123456789012, 44.0),),))
    text = written(_around(odd, _house(1)), ())
    assert (text.features[0].corners, text.features[0].parts) == ([], odd.parts)
    assert read(text, ()) == _around(odd, _house(1))


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (FeatureText(first=0, count=2), "features 0 to 2 of 1 before it"),
        (FeatureText(first=1, count=1), "features 1 to 2 of 1 before it"),
        (FeatureText(first=-1, count=1), "features -1 to 0 of 1 before it"),
        (FeatureText(first=0, count=-5), "features 0 to -5 of 1 before it"),
    ],
)
def test_what_was_not_in_sight_can_not_be_shown_again(feature: FeatureText, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(SurroundingsText(44.0, -88.0, 10.0, [feature]), (_house(1),))


def test_a_reading_that_would_show_too_much_is_refused() -> None:
    many = [FeatureText(first=0, count=1000)] * 201
    with pytest.raises(ValueError, match="more than 200,000 features"):
        read(SurroundingsText(44.0, -88.0, 10.0, many), (_house(1),) * 1000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"at_s":1,"channels":["tether"],"mono_s":[1]}', "/again: tether has said nothing"),
        (b'{"at_s":1,"channels":["tether"],"mono_s":[]}', "/again: must have an instant"),
        (b'{"at_s":1,"channels":["fix"],"mono_s":[1]}', "/again: fix has said nothing"),
        (b'{"at_s":1,"channels":["moon"],"mono_s":[1]}', "/again: Invalid enum value 'moon'"),
    ],
)
def test_what_was_never_said_can_not_be_said_again(text: bytes, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        list(Recall().records("/again", text))


def test_what_can_not_be_read_is_not_said_again_as_what_came_before_it() -> None:
    recall = Recall()
    list(recall.records("/reading/tether", encode(TETHER, 100.0)))
    with pytest.raises(RecordError):
        list(recall.records("/reading/tether", b'{"at_s":1,"source":"x","value":{"state":"up"}}'))
    with pytest.raises(RecordError, match="tether has said nothing"):
        list(recall.records("/again", b'{"at_s":1,"channels":["tether"],"mono_s":[1]}'))


def test_an_odd_run_of_corners_is_refused() -> None:
    road = '{"kind":"road","id":"1","corners":[[1]]}'
    value = f'{{"lat_deg":1,"lon_deg":1,"radius_m":1,"features":[{road}]}}'
    text = f'{{"at_s":1,"source":"zones","value":{value}}}'.encode()
    with pytest.raises(RecordError):
        list(Recall().records("/reading/surroundings", text))


def test_what_stands_for_several_names_each_with_its_instant() -> None:
    one = again((LIGHT, replace(TETHER, mono_s=99.5)))
    assert encode(one, 100.25) == (
        b'{"at_s":100.250,"channels":["light.head","tether"],"mono_s":[100.000,99.500]}'
    )
    recall = Recall()
    engine = Reading(Channel.ENGINE, Engine(True), 1.0, "gpio27")
    assert not recall.is_again(engine)


@pytest.mark.parametrize(
    "feature",
    [
        b'{"corners":[[1' + b"0" * 400 + b",1,1,1]]}",  # more steps than a float can hold
        b'{"later":' + b"[" * 5000 + b"]" * 5000 + b"}",  # an unknown key, nested without end
    ],
)
def test_what_no_reader_can_hold_is_refused(feature: bytes) -> None:
    value = b'{"lat_deg":1,"lon_deg":1,"radius_m":1,"features":[%b]}' % feature
    with pytest.raises(RecordError, match="/reading/surroundings: "):
        list(
            Recall().records("/reading/surroundings", b'{"at_s":1,"source":"z","value":%b}' % value)
        )
    nested = b'{"at_s":1,"later":' + b"[" * 5000 + b"]" * 5000 + b',"channels":[],"mono_s":[]}'
    with pytest.raises(RecordError, match="/again: "):
        list(Recall().records("/again", nested))


def test_none_of_those_before_is_shown_twice() -> None:
    before = tuple(map(_house, range(5)))
    twice = [FeatureText(first=3, count=2), FeatureText(first=0, count=4)]
    with pytest.raises(ValueError, match="feature 3 of those before it twice"):
        read(SurroundingsText(44.0, -88.0, 10.0, twice), before)
    both = _around(_house(1), _house(2), _house(1))
    text = written(both, before)
    assert [one.count for one in text.features] == [2, 0]  # the second time it is told in full
    assert read(text, before) == both


def test_what_a_segment_shows_again_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.journal.recall.MOST_SHOWN", 10)
    town = Reading(Channel.SURROUNDINGS, _around(*map(_house, range(4))), 100.0, "zones")
    telling, hearing = Recall(), Recall()
    texts = [telling.text(town, 100.0) for _ in range(6)]
    assert [b'"count":4' in text for text in texts] == [False, True, True, False, False, False]
    for text in texts:  # and after it, all is there as before
        assert list(hearing.records("/reading/surroundings", text)) == [(100.0, town)]
    with pytest.raises(RecordError, match="features 0 to 4 of 0 before it"):
        list(hearing.records("/reading/surroundings", texts[1]))
