"""`sledwarden report`: one page that says what was found, and lets nothing foreign in."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import rides
from hostile_ride import HOSTILE, hostile_journal
from journal_samples import START
from typer.testing import CliRunner, Result

from firmware.findings import Anchor, Event, Finding, Verdict
from firmware.law import packs as law
from host_tools.cli import app
from host_tools.journals.paths import find
from host_tools.journals.reading import read_ride
from host_tools.journals.ride import Leg, Ride
from host_tools.journals.verifying import verify
from host_tools.report import page, plots, tables, thin


def _run(*words: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, words)])


def _page(journal: Path) -> str:
    sources = find([journal])
    return page.filled(read_ride(sources), [verify(one) for one in sources])


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rides.journal_of(rides.NIGHT, tmp_path_factory.mktemp("night") / "journal")


@pytest.fixture(scope="module")
def html(night: Path) -> Path:
    out = night.parent / "ride.html"
    done = _run(night, "-o", out)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{out}: 2 violations, and 1 exceedance not sure.\n"
    return out


class Reader(HTMLParser):
    """The tags, their attributes and the text of a page, as any browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._within: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._within):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())

    def count(self, tag: str) -> int:
        return sum(one == tag for one, _ in self.tags)


def test_it_says_what_was_found_in_plain_words(html: Path) -> None:
    text = Reader(html.read_text()).text
    for said in (
        "desk Saturday, January 14, 2006, 22:38 to 22:39 CST (America/Chicago)",
        "Journal: whole Nothing was changed, nothing is missing.",
        "2 violations, and 1 exceedance not sure.",
        "Night speed 1 time, 14 s in all, up to 60.0 mph where 55 is the limit . 350.10(1)(gm)",
        "22:39:25 Jan 14, 2006 Night speed After dark, not faster than 55 mph. 350.10(1)(gm) "
        "60.0 mph \N{PLUS-MINUS SIGN} 0.5 limit 55 mph violation after dark",
        "14 s sure warned at once acknowledged after 7 s",
        "shanty 85 ft away",
        "3 lux \N{PLUS-MINUS SIGN} 3.2 needs 50 lux unsure head lamp out: 3 lux, needs 50",
        "speed not known (no answer: the receiver was unplugged): 8 s",
        "nothing here says whose.",
        "All 109 fixes are drawn.",
        "The track is drawn to within 0.5 m (2 ft).",
        "Findings, events and limits are the journal's own word. sledwarden replay, and",
    ):
        assert said.replace(" . ", ". ") in text, said


def test_nothing_is_fetched_and_only_our_script_may_run(html: Path) -> None:
    text = html.read_text()
    read = Reader(text)
    policy = next(
        attributes["content"] for tag, attributes in read.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; "
        r"base-uri 'none'; form-action 'none'",
        policy,
    )
    for tag, attributes in read.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert "src" not in attributes
        assert "style" not in attributes  # the policy would drop it
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", text)
    assert "url(" not in text
    assert "@import" not in text


def test_no_name_reaches_the_page_as_markup(tmp_path: Path) -> None:
    """A unit, a zone, a clause, a reason and a law that were named by somebody with ideas."""
    text = _page(hostile_journal(tmp_path / "journal"))
    read = Reader(text)
    assert (read.count("script"), read.count("style"), read.count("img")) == (2, 1, 0)
    assert HOSTILE.replace("\x07", "\N{REPLACEMENT CHARACTER}") in "".join(read.words)
    assert "<script>alert" not in text
    assert not [name for _, one in read.tags for name in one if name.startswith("on")]


def test_the_samples_can_not_end_their_element() -> None:
    assert page._json({"zone": "</script><b>&"}) == r'{"zone":"\u003c/script>\u003cb>\u0026"}'


def test_the_template_itself_escapes_nothing_twice(html: Path) -> None:
    assert "&amp;amp;" not in html.read_text()
    assert "{{" not in html.read_text()


def test_a_tampered_journal_is_said_loudly(night: Path, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    shutil.copytree(night, folder)
    path = max(folder.glob("*/*.mcap"))
    content = bytearray(path.read_bytes())
    at = content.rindex(b"after dark")
    content[at : at + 10] = b"after dawn"
    path.write_bytes(content)
    out = tmp_path / "ride.html"
    told = _run(folder, "-o", out)
    assert told.exit_code == 0  # the page was made, and says so itself
    assert "this is not what the unit sealed. Something was changed after it." in told.stderr
    text = Reader(out.read_text()).text
    assert "Journal: tampered This is not what the unit sealed: do not rely on it." in text
    assert "What follows is what can still be read." in text
    assert "byte " in text


def test_a_cut_journal_says_where_it_ended(night: Path, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    shutil.copytree(night, folder)
    path = max(folder.glob("*/*.mcap"))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 4 // 5])
    text = Reader(_page(folder)).text
    assert "Journal: power cut" in text
    assert "Boot 1 ended: power cut: nothing says that it ended in order." in text
    assert "gives something else" not in text


def test_a_ride_that_was_not_watched_is_not_called_clean(tmp_path: Path) -> None:
    journal = rides.journal_of(rides.NO_FIX, tmp_path / "journal")
    text = Reader(_page(journal)).text
    assert "Nothing was found against the rider in what was watched." in text
    assert "The journal holds no position." in text
    assert "clean" not in text


def test_a_ride_that_broke_nothing_is_called_so_as_far_as_it_was_watched(tmp_path: Path) -> None:
    script = rides.CLEAN.replace("20.0  end", "100.0 end")  # before the shanty is reached
    journal = rides.journal_of(script, tmp_path / "journal")
    text = Reader(_page(journal)).text
    # Roads and land that must not be entered are in none of its packs: they were not watched.
    assert "Nothing was found against the rider in what was watched." in text
    assert "Nothing went over a limit or against a duty." in text


def test_two_boots_stand_one_after_the_other(night: Path, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    rides.journal_of(rides.CLEAN, folder)
    rides.journal_of(rides.CLEAN.replace("01-15", "01-16"), folder)
    ride = read_ride(find([folder]))
    assert [leg.offset_s for leg in ride.legs] == [0.0, 20.0]
    text = Reader(_page(folder)).text
    assert "Sun 15 Jan 2006" in text
    assert "Mon 16 Jan 2006" in text
    assert "Journal: tampered" in text  # each replay has a throw-away key of its own


def test_a_journal_without_a_law_is_shown_all_the_same(tmp_path: Path) -> None:
    from journal_samples import written

    written(tmp_path / "journal", 60)
    text = Reader(_page(tmp_path / "journal")).text
    assert "sled-7" in text
    assert "The journal carries no law: limits and their words are not known." in text
    assert "No law was in the journal, so nothing was judged." in text


def test_a_page_is_not_replaced_unasked(night: Path, html: Path) -> None:
    done = _run(night, "-o", html)
    assert (done.exit_code, done.stderr) == (
        1, f"{html}: is there already: must be a new file. Say --force to replace it.\n"
    )  # fmt: skip


def test_a_page_of_only_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").touch()
    done = _run(tmp_path / "a.mcap", "-o", tmp_path / "ride.html")
    assert done.exit_code == 1
    assert done.stderr == (
        f"{tmp_path}/a.mcap: holds no record that can be read: does not begin as an MCAP file.\n"
    )
    assert not (tmp_path / "ride.html").exists()


def _long_ride() -> Ride:
    """Ten hours at 10 Hz through a night: a loop of 350 miles, over 55 mph every ninety seconds."""
    clauses = {one.citation: one for one in law.load("wi").clause}
    leg = Leg(replace(START, unit="long"), ZoneInfo("America/Chicago"), clauses, 0.0, 35_999.9)
    leg.anchors.append(Anchor("gps", 0.0, datetime(2026, 1, 17, 22, 0, tzinfo=UTC), 0.5))
    leg.citations.append("350.10(1)(gm)")
    leg.strips = {"sun": [(0.0, "dark")], "head lamp": [(0.0, "lit")]}
    track = leg.track
    numbers = range(360_000)
    track.at_s.extend(number / 10 for number in numbers)
    turns = [number / 360_000 * 6.28318 for number in numbers]
    track.lat_deg.extend(45.0 + 0.8 * math.sin(one) + 0.002 * math.sin(one * 900) for one in turns)
    track.lon_deg.extend(-89.0 + 1.1 * math.cos(one) for one in turns)
    track.speed_mph.extend(40 + 22 * math.sin(number / 143) for number in numbers)
    for column, value in (
        (track.error_m, 3.0), (track.error_mph, 0.5), (track.track_deg, 90.0),
        (track.limit_mph, 55.0),
    ):  # fmt: skip
        column.extend([value] * len(numbers))
    track.margin.extend(5 if one > 55.5 else 3 if one > 52 else 1 for one in track.speed_mph)
    track.clause.extend([0] * len(numbers))
    for number in range(400):
        at_s = number * 90.0
        over = Event("350.10(1)(gm)", Verdict.VIOLATION, at_s, 62.0, 55.0, "mph", True, at_s + 20)
        leg.events[over.clause, at_s] = over
        leg.findings.append(
            (at_s, Finding(over.clause, Verdict.VIOLATION, "after dark", 56.0, 55.0, "mph", 0.5))
        )
        leg.findings.append(
            (at_s + 20, Finding(over.clause, Verdict.COMPLIANT, "after dark", 54.0, 55.0, "mph"))
        )
    return Ride("long", [leg])


def test_ten_hours_at_ten_hertz_are_under_two_megabytes_and_keep_their_peaks(night: Path) -> None:
    ride = _long_ride()
    track = ride.legs[0].track
    track.speed_mph[123_456] = 118.0
    text = page.filled(ride, [verify(one) for one in find([night])])
    assert len(text.encode()) < 2_000_000
    read = Reader(text)
    assert "Top speed 118.0 mph" in read.text
    assert "360,000 fixes in columns of 25.7 s" in read.text
    assert "These are the 300 gravest of 400" in read.text
    line = next(one["d"] for tag, one in read.tags if one.get("class") == "speed")
    highest = min(float(pair.split()[1]) for pair in re.split("[ML]", line or "")[1:])
    top = plots.top_mph(ride)
    assert highest == pytest.approx(1000 * (1 - 118.0 / top), abs=0.1)  # the one fix stands there


def test_thinning_keeps_every_column_s_extremes() -> None:
    xs = [number / 36.0 for number in range(360_000)]
    ys = [0.0] * len(xs)
    ys[123_456], ys[300_001] = 99.0, -7.0
    kept = thin.kept(xs, ys, 10_000.0)
    assert len(kept) <= 4 * thin.COLUMNS
    assert {0, 123_456, 300_001, len(xs) - 1} <= set(kept)
    assert kept == sorted(kept)


def test_a_short_ride_is_not_thinned() -> None:
    assert thin.kept([0.0, 1.0, 2.0], [5.0, 5.0, 5.0], 10_000.0) == [0, 1, 2]


def test_many_states_are_shown_by_the_worst_of_each_column() -> None:
    runs = [(n / 10, (n + 1) / 10, "out" if n == 50_000 else "lit") for n in range(100_000)]
    thinned = thin.worst_runs(runs, 10_000.0, ("lit", "out"))
    assert [state for _, _, state in thinned] == ["lit", "out", "lit"]
    assert thinned[1][1] - thinned[1][0] <= 2 * 10_000.0 / thin.COLUMNS


def test_the_gravest_are_chosen_where_there_is_no_room(night: Path) -> None:
    ride = read_ride(find([night]))
    first, *_ = found = ride.exceedances()
    many = [first] * tables.SHOWN_EXCEEDANCES + [found[1]] + [found[2]] * 5
    shown = tables.gravest(many)
    assert len(shown) == tables.SHOWN_EXCEEDANCES
    assert found[1] in shown
    assert found[2] not in shown
