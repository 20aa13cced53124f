"""The law packs: read and found, complete for the rules that read them, refused whole."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from firmware.config import schema as config
from firmware.errors import LawError
from firmware.law import packs as law
from firmware.law.faults import UNITS
from firmware.law.packs import Law
from firmware.parts import PARTS
from firmware.rider.requests import MODES

PACK = law.FOLDER / "wi.toml"
WI = law.load("wi")
WHERE = "wi.toml"

SAMPLE = Path(__file__).parent / "data" / "law" / "sample.toml"
"""Eight rows that stay as they are while the packs grow."""


def faults_of(text: str) -> list[str]:
    with pytest.raises(LawError) as refused:
        law.parse(text.encode(), WHERE)
    assert refused.value.where == WHERE
    assert refused.value.advice == "The whole pack is refused."
    return refused.value.faults


def changed(old: str, new: str) -> str:
    """The sample with a fault planted in it."""
    text = SAMPLE.read_text()
    assert old in text
    return text.replace(old, new, 1)


# Read and found.


def test_a_clause_is_found_by_its_citation_and_absent_when_it_is_not_there() -> None:
    found = WI.find("350.10(1)(i)")
    assert found is not None
    assert found.near[0].kinds == ("shanty", "person")
    assert WI.find("350.10(1)(zz)") is None


def test_a_law_is_named_by_its_word_or_by_a_path(tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_bytes(PACK.read_bytes())
    assert law.path_of("wi") == PACK
    assert law.load(str(copy)) == WI


def test_the_word_of_a_state_brings_the_packs_that_go_with_it(tmp_path: Path) -> None:
    assert law.words_of(["wi"]) == ("wi", "wi_act311", "wi_trans305")
    assert law.words_of(["wi_trans305", "wi"]) == ("wi_trans305", "wi", "wi_act311")
    assert law.words_of([f"{tmp_path}/wi.toml"]) == (f"{tmp_path}/wi.toml",)
    assert [one.id for one in law.load_all(["wi"])] == ["wi", "wi_act311", "wi_trans305"]


def test_auto_is_every_pack_that_is_here_and_leaves_the_others_that_are_named() -> None:
    here = tuple(sorted(path.stem for path in law.FOLDER.glob("*.toml")))
    assert law.words_of(law.AUTO) == here
    assert law.words_of([law.AUTO, "mine.toml"]) == (*here, "mine.toml")


# What a unit reads of it.


WORDS = sorted(path.stem for path in law.FOLDER.glob("*.toml"))


@pytest.mark.parametrize("word", WORDS)
def test_a_unit_reads_every_clause_that_is_judged_or_shown(word: str) -> None:
    (live,) = [one for one in law.load_live([word]) if one.id == word]
    whole = law.load(word)
    assert live == whole.live
    assert [one for one in whole.clause if one not in live.clause] == [
        one for one in whole.clause if not one.kind and not one.notice
    ]


def test_a_pack_that_was_changed_since_it_was_checked_is_checked_whole(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(SAMPLE.read_bytes())
    assert law.load_live([str(path)]) == (law.load(str(path)).live,)
    path.write_text(changed('applies_to = "snowmobile"\ncoverage = "MODE"', 'coverage = "MODE"'))
    with pytest.raises(LawError):
        law.load_live([str(path)])


def test_a_checked_pack_is_parsed_for_its_live_clauses_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen by a clause that is wrong and not live: in a pack that is known it is not looked at."""
    text = changed('coverage = "MODE"', 'coverage = "NONE"').encode()
    (tmp_path / "a.toml").write_bytes(text)
    known = tmp_path / "checked.sha256"
    monkeypatch.setattr(law, "CHECKED", known)
    with pytest.raises(LawError):
        law.load_live([str(tmp_path / "a.toml")])
    known.write_text(f"{hashlib.sha256(text).hexdigest()}  a.toml\n")
    (live,) = law.load_live([str(tmp_path / "a.toml")])
    assert len(live.clause) == 6


# Named.


def test_a_law_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(LawError) as refused:
        law.load("zz")
    assert str(refused.value) == (
        f"{law.FOLDER / 'zz.toml'}: can't be read (No such file or directory).\n"
        "Laws that are here: "
        + ", ".join(sorted(one.stem for one in law.FOLDER.glob("*.toml")))
        + ". A pack of your own is named by its path, x.toml."
    )


@pytest.mark.parametrize("word", ["/tmp", "/", "*", "", "..", "w[i]"])
def test_a_path_or_a_pattern_for_a_word_is_no_law(word: str) -> None:
    assert law.words_of(word) == (word,)
    with pytest.raises(LawError, match="No such file or directory"):
        law.load_all(word)


def test_the_vehicles_that_a_law_binds_are_those_that_a_config_names() -> None:
    named = msgspec.structs.fields(config.Unit)
    vehicle = next(one for one in named if one.name == "vehicle")
    assert get_args(get_args(vehicle.type)[0]) == law.VEHICLES


def test_the_modes_that_a_law_speaks_of_are_those_that_can_be_set() -> None:
    assert MODES == law.MODES


# Refused whole.


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        pytest.param(
            'lifted_by = ["race"]',
            'lifted_buy = ["race"]',
            "line 20: [350.10(1)(gm)] lifted_buy: there is no such key: did you mean lifted_by?",
            id="unknown key",
        ),
        pytest.param(
            "limit = { value = 55 }",
            'limit = { value = "55" }',
            "line 19: [350.10(1)(gm)] limit.value: expected `float`, got `str`.",
            id="wrong type",
        ),
        pytest.param(
            "limit = { value = 55 }",
            'limit = { value = 55, unit = "knots" }',
            "line 19: [350.10(1)(gm)] limit.unit: invalid enum value 'knots'.",
            id="unknown unit",
        ),
        pytest.param(
            "limit = { value = 55 }\n",
            "",
            "line 7: [350.10(1)(gm)] limit: must be there for a clause on speed.",
            id="missing limit",
        ),
        pytest.param(
            "limit = { value = 55 }",
            "limit = { value = nan }",
            "line 19: [350.10(1)(gm)] limit = nan: must be above 0 and at most 200.",
            id="limit that is no number",
        ),
        pytest.param(
            "limit = { value = 55 }",
            "limit = { value = 0 }",
            "line 19: [350.10(1)(gm)] limit = 0.0: must be above 0 and at most 200.",
            id="limit of zero",
        ),
        pytest.param(
            'kind = "tether"',
            'kind = "teher"',
            "line 116: [350.09(9)] kind = teher: must be one of "
            + ", ".join(sorted(PARTS["rule"]))
            + ".",
            id="unknown kind of clause",
        ),
        pytest.param(
            'kind = "zone_speed"',
            'kind = "lamp"',
            "line 26: [350.10(1)(g)] lamp: must be head or tail for a lamp clause.",
            id="wrong kind of clause",
        ),
        pytest.param(
            'kinds = ["dwelling"]',
            'kinds = ["dweling"]',
            "line 41: [350.10(1)(g)] near: kind of zone dweling: must be one of "
            + ", ".join(sorted(law.KINDS))
            + ".",
            id="unknown kind of zone",
        ),
        pytest.param(
            "within_ft = 150",
            "within_ft = -150",
            "line 41: [350.10(1)(g)] within_ft = -150.0: must be above 0 and at most 5000.",
            id="distance below zero",
        ),
        pytest.param(
            "within_ft = 150",
            "within_ft = nan",
            "line 41: [350.10(1)(g)] within_ft = nan: must be above 0 and at most 5000.",
            id="distance that is no number",
        ),
        pytest.param(
            "from_time = 22:30:00\n",
            "",
            "line 26: [350.10(1)(g)] from_time and to_time: must be there where when = clock.",
            id="missing time",
        ),
        pytest.param(
            "from_time = 22:30:00",
            'from_time = "22:30:00Z"',
            "line 38: [350.10(1)(g)] from_time and to_time: must be local times, without a zone.",
            id="time with a zone",
        ),
        pytest.param(
            "to_time = 07:00:00",
            "to_time = 22:30:00",
            "line 38: [350.10(1)(g)] from_time and to_time: must differ.",
            id="empty window",
        ),
        pytest.param(
            'lifted_by = ["race"]',
            'lifted_by = ["rase"]',
            "line 20: [350.10(1)(gm)] lifted_by[0]: invalid enum value 'rase'.",
            id="unknown mode that lifts",
        ),
        pytest.param(
            'demanded_by = ["race"]',
            'demanded_by = ["rase"]',
            "line 117: [350.09(9)] demanded_by[0]: invalid enum value 'rase'.",
            id="unknown mode that demands",
        ),
        pytest.param(
            'applies_to = "snowmobile"',
            'applies_to = "snowmobil"',
            "line 12: [350.10(1)(gm)] applies_to = snowmobil: must be one of snowmobile, "
            "low_speed_vehicle, motor_vehicle for a clause that is judged.",
            id="unknown vehicle",
        ),
        pytest.param(
            'when = "darkness"\nlamp = "head"',
            'when = "clock"\nfrom_time = 22:00:00\nto_time = 23:00:00\nlamp = "head"',
            "line 80: [350.09(2)(b)] when = clock: a lamp clause is judged in darkness or always.",
            id="lamp by the clock",
        ),
        pytest.param(
            'when = "clock"',
            'when = "darkness"',
            "line 37: [350.10(1)(g)] when = darkness: a zone_speed clause is judged always or "
            "by the clock.",
            id="zone by the sun",
        ),
        pytest.param(
            'demanded_by = ["race"]',
            'demanded_by = ["race"]\nwhen = "darkness"',
            "line 118: [350.09(9)] when = darkness: a tether clause is judged always.",
            id="tether by the sun",
        ),
        pytest.param(
            'coverage = "MONITORED"',
            'coverage = "INSPECTED"',
            "line 17: [350.10(1)(gm)] kind = speed_limit: only MONITORED and ZONE clauses "
            "have a kind.",
            id="kind of an inspected clause",
        ),
        pytest.param(
            'coverage = "MONITORED"',
            'coverage = "MONITRED"',
            "line 13: [350.10(1)(gm)] coverage: invalid enum value 'MONITRED'.",
            id="unknown coverage",
        ),
        pytest.param(
            'citation = "350.10(1)(gm)"',
            'citation = "350.10(1)(g)"',
            "line 26: [350.10(1)(g)] stands twice: each citation must stand once.",
            id="double citation",
        ),
        pytest.param(
            'citation = "350.10(3)"\n',
            "",
            "line 119: [clause 7] citation: is missing.",
            id="no citation",
        ),
        pytest.param(
            '{ op = "<=", value = 150,',
            '{ op = "=<", value = 150,',
            "line 44: [350.10(1)(g)] numbers[1].op = =<: must be one of "
            "<, <=, ==, !=, >=, >, from, to.",
            id="unknown sign",
        ),
        pytest.param(
            'value = 150, unit = "ft"',
            'value = 150, unit = "feet"',
            "line 44: [350.10(1)(g)] numbers[1].unit = feet: must be one of "
            + ", ".join(sorted(UNITS))
            + ".",
            id="unknown unit of a figure",
        ),
        pytest.param(
            'value = 150, unit = "ft"',
            'value = inf, unit = "ft"',
            "line 44: [350.10(1)(g)] numbers[1].value = inf: must be a number from 0 up.",
            id="figure without end",
        ),
        pytest.param(
            'value = 150, unit = "ft"',
            'value = "150", unit = "ft"',
            "line 44: [350.10(1)(g)] numbers[1].value = 150: must be a number from 0 up.",
            id="figure in quotes",
        ),
        pytest.param(
            'value = "22:30"',
            'value = "10:30 p.m."',
            "line 45: [350.10(1)(g)] numbers[2].value = 10:30 p.m.: must be a time in quotes, "
            'like "22:30".',
            id="time of another form",
        ),
        pytest.param(
            'value = "1970-02-12"',
            'value = "1970-02-30"',
            "line 103: [350.09(3)] numbers[2].value = 1970-02-30: must be a date in quotes, "
            'like "1994-05-07".',
            id="day that is none",
        ),
        pytest.param(
            'of = "distance to a dwelling"',
            'of = ""',
            "line 44: [350.10(1)(g)] numbers[1].of: must say what the figure is of.",
            id="figure of nothing",
        ),
        pytest.param(
            'title = "Night speed"',
            'title = " "',
            "line 9: [350.10(1)(gm)] title: must have words.",
            id="no words",
        ),
        pytest.param(
            'plain = "After dark, not faster than 55 mph."',
            f'plain = "{"x" * 97}"',
            "line 10: [350.10(1)(gm)] plain: must be one line of at most 96 letters.",
            id="too long for a line",
        ),
        pytest.param(
            'source = "000_2976922b8616f3d7.txt:69"',
            'source = "the statute"',
            "line 16: [350.10(1)(gm)] source = the statute: must be a text's file and line, or an "
            "address.",
            id="source that leads nowhere",
        ),
        pytest.param(
            'source = "000_2976922b8616f3d7.txt:69"',
            'source = "000_2976922b8616f3d7.txt:69"\nin_force_from = 2026-01-01\n'
            "in_force_to = 2025-12-31",
            "line 18: [350.10(1)(gm)] in_force_to = 2025-12-31: must not be before "
            "in_force_from = 2026-01-01.",
            id="in force for no day",
        ),
        pytest.param(
            'jurisdiction = "US-WI"\n',
            'jurisdiction = "US-WI"\nin_force = 2026-01-01\n',
            "line 5: in_force: there is no such key.",
            id="unknown head",
        ),
        pytest.param(
            'jurisdiction = "US-WI"\n',
            'jurisdiction = "US-WI"\n'
            'unverified = [{ title = "a", said = "b", why = "c", by = "d" }]\n',
            "line 5: unverified[0]: object contains unknown field `by`.",
            id="unknown key of what was not verified",
        ),
        pytest.param(
            'jurisdiction = "US-WI"\n',
            "",
            "line 1: jurisdiction: is missing.",
            id="missing head",
        ),
    ],
)
def test_a_fault_refuses_the_pack_with_its_citation_and_what_was_expected(
    old: str, new: str, fault: str
) -> None:
    assert faults_of(changed(old, new)) == [fault]


def test_all_faults_are_told_at_once() -> None:
    text = changed('jurisdiction = "US-WI"\n', "")
    text = text.replace("limit = { value = 55 }", 'limit = { value = "55" }')
    text = text.replace('lamp = "head"', 'lamp = "heat"').replace(
        "within_ft = 100", "within_ft = 0"
    )
    assert faults_of(text) == [
        "line 1: jurisdiction: is missing.",
        "line 18: [350.10(1)(gm)] limit.value: expected `float`, got `str`.",
        "line 61: [350.10(1)(i)] within_ft = 0.0: must be above 0 and at most 5000.",
        "line 80: [350.09(2)(b)] lamp: invalid enum value 'heat'.",
    ]


def test_text_that_is_no_toml_is_refused_with_its_line() -> None:
    assert faults_of('id = "wi"\n[[clause\n') == [
        "Expected ']]' at the end of an array declaration (at line 2, column 9)."
    ]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(LawError) as refused:
        law.parse(b"\xff\xfe", WHERE)
    assert refused.value.faults == [
        "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte."
    ]


@pytest.mark.parametrize("clauses", ["", "clause = []\n", "clause = 3\n", 'clause = ["gm"]\n'])
def test_a_pack_without_clauses_is_refused(clauses: str) -> None:
    head = 'id = "a"\ntitle = "b"\njurisdiction = "c"\nchecked_on = 2026-01-01\n'
    assert len(faults_of(head + clauses)) == 1


def test_an_empty_file_is_no_law() -> None:
    assert faults_of("") == [
        "line 1: id: is missing.",
        "line 1: title: is missing.",
        "line 1: jurisdiction: is missing.",
        "line 1: checked_on: is missing.",
        "line 1: clause: there must be at least one.",
    ]


@pytest.mark.parametrize("path", [SAMPLE, *law.FOLDER.glob("*.toml")], ids=lambda path: path.stem)
def test_a_pack_that_is_shipped_has_no_fault(path: Path) -> None:
    assert isinstance(law.parse(path.read_bytes(), WHERE), Law)
