"""Anchors: whose date it is, and the dates of what came before any was known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from judging import fix_of

from firmware.clock import ManualClock
from firmware.findings import Anchor
from firmware.journal import reader
from firmware.journal.record import Start
from firmware.journal.redating import Anchors, Dated
from firmware.journal.writer import Journal
from firmware.readings import Channel, Fix, Reading, Request, RtcTime
from firmware.situation.timekeeper import Timekeeper

START = datetime(2026, 1, 16, 5, tzinfo=UTC)
GPS = Anchor("gps", 100.0, START, 0.5, 20.0)
RTC = Anchor("rtc", 10.0, START - timedelta(seconds=80), 112.0, 20.0)


def dated(utc: datetime) -> Fix:
    return replace(fix_of(30.0), utc=utc)


def test_records_from_before_the_first_date_are_dated_back_with_their_error() -> None:
    anchors = Anchors([Anchor("none", 0.0), GPS])
    assert anchors.at(100.0) == Dated(START, "gps", 0.5, is_redated=False)
    assert anchors.at(40.0) == Dated(
        START - timedelta(seconds=60), "gps", pytest.approx(0.5012), is_redated=True
    )
    assert anchors.at(86_500.0) == Dated(
        START + timedelta(days=1), "gps", pytest.approx(2.228), is_redated=False
    )


def test_what_the_battery_clock_dated_is_dated_anew_by_the_satellites() -> None:
    anchors = Anchors([Anchor("none", 0.0), RTC, GPS])
    assert anchors.at(50.0) == Dated(
        START - timedelta(seconds=50), "gps", pytest.approx(0.501), is_redated=True
    )


def test_without_satellites_the_battery_clock_s_date_holds() -> None:
    anchors = Anchors([Anchor("none", 0.0), RTC])
    assert anchors.at(5.0) == Dated(
        START - timedelta(seconds=85), "rtc", pytest.approx(112.0001), is_redated=True
    )
    one = anchors.at(10.0)
    assert one is not None
    assert not one.is_redated


def test_without_any_clock_there_is_no_date() -> None:
    assert Anchors([Anchor("none", 0.0)]).at(50.0) is None
    assert Anchors([]).at(50.0) is None


def test_each_stretch_is_dated_by_the_anchor_that_held() -> None:
    later = Anchor("gps", 700.0, START + timedelta(seconds=600.5), 0.5, 20.0)
    anchors = Anchors([GPS, later])
    assert anchors.at(699.0) == Dated(
        START + timedelta(seconds=599), "gps", pytest.approx(0.51198), is_redated=False
    )
    one = anchors.at(701.0)
    assert one is not None
    assert one.utc == START + timedelta(seconds=601.5)


# The timekeeper tells them.


def test_each_change_of_the_clock_is_anchored_once() -> None:
    kept = Timekeeper(date(2026, 1, 1))
    assert kept.anchor() == Anchor("none", 0.0)
    assert kept.anchor() is None
    kept.take_rtc(RtcTime(START, 112.0), 5.0)
    assert kept.anchor() == Anchor("rtc", 5.0, START, 112.0, 20.0)
    kept.take_rtc(RtcTime(START + timedelta(seconds=10), 112.0), 15.0)
    assert kept.anchor() is None
    utc = START + timedelta(seconds=50)
    kept.take_fix(dated(utc), 25.0)
    assert kept.anchor() == Anchor("gps", 25.0, utc, 0.5, 20.0, step_s=30.0)
    for second in range(1, 600):
        kept.take_fix(dated(utc + timedelta(seconds=second)), 25.0 + second)
        assert kept.anchor() is None
    kept.take_fix(dated(utc + timedelta(seconds=600)), 625.0)
    assert kept.anchor() == Anchor("gps", 625.0, utc + timedelta(seconds=600), 0.5, 20.0)


def test_a_date_of_the_satellites_that_steps_is_anchored_with_its_step() -> None:
    kept = Timekeeper(date(2026, 1, 1))
    kept.take_fix(dated(START), 10.0)
    kept.anchor()
    kept.take_fix(dated(START + timedelta(seconds=4001)), 11.0)
    anchor = kept.anchor()
    assert anchor is not None
    assert anchor.step_s == pytest.approx(4000.0)


def test_five_agreeing_dates_are_agreed_and_a_step_begins_anew() -> None:
    kept = Timekeeper(date(2026, 1, 1))
    for second in range(4):
        kept.take_fix(dated(START + timedelta(seconds=second)), 10.0 + second)
        assert not kept.is_agreed
    kept.take_fix(dated(START + timedelta(seconds=4)), 14.0)
    assert kept.is_agreed
    kept.take_fix(dated(START + timedelta(seconds=99)), 15.0)
    assert not kept.is_agreed


def test_the_two_clocks_are_compared_whichever_comes_first() -> None:
    kept = Timekeeper(date(2026, 1, 1))
    kept.take_rtc(RtcTime(START, 2.0), 10.0)
    assert kept.rtc_ahead_s is None
    kept.take_fix(dated(START + timedelta(seconds=3600)), 10.0)
    assert kept.rtc_ahead_s == -3600.0
    kept.take_rtc(RtcTime(START + timedelta(seconds=3610), 2.0), 20.0)
    assert kept.rtc_ahead_s == 0.0


# In a journal: sealed like all, and the originals untouched.


def test_an_anchor_is_kept_and_sealed_with_the_name_of_its_boot(tmp_path: Path) -> None:
    clock = ManualClock(1.0)
    journal = Journal(tmp_path / "journal", Start("sled-1", "test"), clock)
    journal.open()
    note = Reading(Channel.REQUEST, Request("note", "begins to watch", "daemon"), 1.0, "daemon")
    journal.put(note, 1.0)
    anchor = Anchor("gps", 100.0, START, 0.5, 20.0, boot_id=journal.boot_id)
    journal.put(anchor, 100.0, START, urgent=True)
    assert journal.flush(60.0)
    assert journal.close(101.0, timeout_s=60.0)
    (boot,) = reader.boots(tmp_path / "journal")
    records = list(reader.read(boot))
    assert (100.0, anchor) in records
    start = next(one for _, one in records if isinstance(one, Start))
    assert anchor.boot_id == start.boot_id
    assert Anchors.read(boot).at(1.0) == Dated(
        START - timedelta(seconds=99), "gps", pytest.approx(0.50198), is_redated=True
    )
