"""A ride as its journal tells it is the ride that is judged again: the same page, to the letter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
import rides
from journal_samples import journal_in, put_all, ride, written
from typer.testing import CliRunner

from firmware.findings import (
    Alert,
    Event,
    HapticCue,
    LightCue,
    Margin,
    Standing,
    ToneCue,
    Verdict,
)
from firmware.journal import reader
from firmware.journal.record import Gap, Record
from firmware.readings import Channel, Fix, Reading
from host_tools.cli import app
from host_tools.journals.copy import JournalCopy
from host_tools.journals.paths import find
from host_tools.journals.reading import read_ride
from host_tools.journals.ride import Ride
from host_tools.journals.verifying import verify
from host_tools.replay import replaying
from host_tools.replay.recordings import Kind, Wishes, open_recording
from host_tools.report import page

DRIVES = Path(__file__).parent / "drives"
LIMIT = "350.10(1)(gm)"
FIX = Fix(45.0, -90.0, 3.0, 11.0, 0.2, 0.0)

_HOW = re.compile(
    "<li>(Judged again from its readings, it gives|Findings, events and limits are).*?</li>"
)


def _journal_of_drive(script: Path, folder: Path) -> Path:
    recording = open_recording(script, Kind.DRIVE, Wishes())
    core = replaying.build(recording.config)
    with JournalCopy(folder, recording.config, core, "a test") as copy:
        for at_s, reading, told in replaying.judge(replaying.stream(recording), core):
            copy.keep(at_s, reading, told)
    return folder


def _pages(folder: Path) -> tuple[Ride, str, str]:
    """The ride as it is told, its page, and the page of the ride judged again."""
    (source,) = find([folder])
    proofs = [verify(source)]
    told, judged = read_ride([source]), read_ride([source], judges_again=True)
    assert [leg.is_judged_again for leg in judged.legs] == [True] * len(judged.legs)
    texts = [page.filled(one, proofs) for one in (told, judged)]
    # One sentence says which of the two was done.
    assert [len(_HOW.findall(text)) for text in texts] == [1, 1]
    first, second = (_HOW.sub("", text) for text in texts)
    return told, first, second


@pytest.mark.parametrize("text", [rides.NIGHT, rides.CLEAN, rides.NO_FIX],
                         ids=["night", "clean", "no fix"])  # fmt: skip
def test_a_scripted_ride_gives_the_same_page_both_ways(text: str, tmp_path: Path) -> None:
    told, first, second = _pages(rides.journal_of(text, tmp_path / "journal"))
    assert [leg.is_judged_again for leg in told.legs] == [False]
    assert first == second


@pytest.mark.parametrize("name", [
    "dwelling_broken", "night_speed_begins", "lamp_states", "bus_faults", "clock_steps",
    "race_tether_broken", "night_speed_receiver_dies", "ice_marked_person", "tahoe_spike",
])  # fmt: skip
def test_a_drive_gives_the_same_page_both_ways(name: str, tmp_path: Path) -> None:
    told, first, second = _pages(_journal_of_drive(DRIVES / f"{name}.drive", tmp_path / "journal"))
    assert [leg.is_judged_again for leg in told.legs] == [False]
    assert first == second


def test_a_limit_that_comes_without_a_change_of_verdict_is_told(tmp_path: Path) -> None:
    # Compliant by day without a limit, compliant after dark under 55: no finding tells of it.
    folder = _journal_of_drive(DRIVES / "night_speed_kept.drive", tmp_path / "journal")
    (leg,) = read_ride(find([folder])).legs
    limits = {record.limit_mph for _, record in reader.read(folder) if isinstance(record, Standing)}
    assert 55.0 in limits
    assert 55.0 in set(leg.track.limit_mph)


def test_a_journal_that_tells_nothing_of_what_held_is_judged_again(tmp_path: Path) -> None:
    written(tmp_path / "journal")  # as an earlier version wrote it
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    assert leg.is_judged_again is True
    assert len(leg.findings) == 6


def test_a_journal_with_lost_records_is_judged_again(tmp_path: Path) -> None:
    # What held may have changed in one of them.
    for lost in (False, True):
        journal = journal_in(tmp_path / f"{lost}")
        journal.open()
        first, second = (
            Reading(Channel.FIX, FIX, 100.0, "gps", 2.0),
            Reading(Channel.FIX, FIX, 101.0, "gps", 2.0),
        )
        stands = Standing("", Margin.FREE, "day", "lit", "lit", "in", "running", "good", "gps")
        journal.put(first, 100.0, None)
        journal.put(stands, 100.0, None)
        if lost:
            journal.put(Gap(3, "disk full", 100.1, 100.9), 100.9, None)
        journal.put(second, 101.0, None)
        assert journal.close(102.0, timeout_s=60.0)
        (leg,) = read_ride(find([tmp_path / f"{lost}"])).legs
        assert (leg.is_judged_again, len(leg.track)) == (lost, 2)


def test_a_boot_whose_beginning_is_missing_is_judged_again(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    put_all(journal, [*ride(15, utc=None), *ride(30, 102.0)])  # its first date began a new segment
    assert journal.close(105.0, timeout_s=60.0)
    first, _ = sorted((tmp_path / "journal").glob("*/*.mcap"))
    first.unlink()
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    assert leg.is_judged_again is True


def test_a_person_may_have_it_judged_again(tmp_path: Path) -> None:
    folder = rides.journal_of(rides.CLEAN, tmp_path / "journal")
    out = tmp_path / "ride.html"
    for flags, said in (
        ((), "Findings, events and limits are the journal"),
        (("--judge-again",), "Judged again from its readings, it gives the same findings"),
    ):
        done = CliRunner().invoke(app, ["report", str(folder), "-o", str(out), "--force", *flags])
        assert done.exit_code == 0, done.output
        assert said in out.read_text()


def test_a_fix_stands_as_it_was_judged_not_as_what_came_at_its_instant(tmp_path: Path) -> None:
    # The first fix came before what the map says of its place, which has the same instant.
    (leg,) = read_ride(find([rides.journal_of(rides.CLEAN, tmp_path / "journal")])).legs
    assert leg.track.margin[0] == Margin.UNKNOWN
    assert leg.track.margin[10] == Margin.FREE


def test_a_violation_in_a_warning_that_stands_was_warned_of(tmp_path: Path) -> None:
    # Unsure for 4 s, then sure: one warning, raised before the second of the two exceedances. What
    # is near the limit comes for the same clause and warns of no exceedance.
    def alert(name: str, state: Literal["raised", "cleared"]) -> Alert:
        return Alert(name, state, LIMIT, "", LightCue.OFF, HapticCue.OFF, ToneCue.OFF)

    def event(verdict: Verdict, start_s: float, end_s: float) -> Event:
        return Event(LIMIT, verdict, start_s, 60.0, 55.0, "mph", True, end_s)

    journal = journal_in(tmp_path / "journal")
    journal.open()
    records: list[tuple[float, Record]] = [
        (101.0, alert("near-limit", "raised")),
        (102.0, alert("near-limit", "cleared")),
        (102.0, alert("over-speed", "raised")),
        (106.0, event(Verdict.UNSURE, 102.0, 106.0)),
        (116.0, event(Verdict.VIOLATION, 106.0, 116.0)),
        (116.0, alert("over-speed", "cleared")),
        (116.0, alert("near-limit", "raised")),
        (119.0, event(Verdict.VIOLATION, 118.0, 119.0)),
    ]
    for at_s, record in records:
        journal.put(record, at_s, None)
    assert journal.close(120.0, timeout_s=60.0)
    ride = read_ride(find([tmp_path / "journal"]))
    assert [one.warned_s for one in ride.exceedances()] == [0.0, -4.0, None]
    text = page.filled(ride, [verify(find([tmp_path / "journal"])[0])])
    assert "the warning stood already" in text
    assert text.count("no warning in the journal") == 1
