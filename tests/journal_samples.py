"""Journals for tests, written by the real writer with a clock that the test moves."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firmware.clock import ManualClock
from firmware.findings import Event, Finding, Verdict
from firmware.journal.folder import Storage
from firmware.journal.keeper import Keeper
from firmware.journal.record import Record, Start
from firmware.journal.writer import Journal
from firmware.readings import Channel, Fix, Light, Missing, Reading, Why

DAY = datetime(2026, 1, 17, 22, 0, tzinfo=UTC)
START = Start("sled-7", "0.1.0", "snowmobile", ("wi",), {"lake.gpkg": "ab" * 32})
NOTE = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "by day")
LAW = ("wi.toml", b"# a law pack\nname = 'wi'\n")
CONFIG = ("sledwarden.toml", b"[unit]\nid = 'sled-7'\n")

Given = tuple[float, datetime | None, Record, bool]


def ride(count: int, from_s: float = 100.0, utc: datetime | None = DAY) -> list[Given]:
    """Ten records a second: fixes and lamps, a finding each second, an event every five."""
    given: list[Given] = []
    for number in range(count):
        at_s = from_s + number / 10
        date = utc + timedelta(seconds=at_s - from_s) if utc is not None else None
        record: Record = Reading(
            Channel.FIX, Fix(45 + number / 1e5, -90.1, 3.0, 20.1, 0.25, utc=date), at_s, "gps", 2.5
        )
        if number % 50 == 42:
            record = Event("350.10(1)(gm)", Verdict.VIOLATION, at_s - 5, 61.5, 55.0, "mph", True)
        elif number % 10 == 3:
            record = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "by day", 44.9, None, "mph")
        elif number % 10 == 4:
            record = Reading(Channel.LIGHT_HEAD, Light(850.1, 2.0), at_s, "bh1750@i2c-1:0x23")
        elif number % 10 == 5:
            record = Reading(Channel.LIGHT_TAIL, Missing(Why.NO_ANSWER, "eio"), at_s, "tcs34725")
        given.append((at_s, date, record, isinstance(record, Event)))
    return given


def put_all(journal: Journal, given: Iterable[Given]) -> list[tuple[float, Record]]:
    """Puts each record and flushes at each full second of the ride, as time would."""
    last_s = None
    put = []
    for at_s, utc, record, is_urgent in given:
        if last_s is not None and int(at_s) != int(last_s):
            assert journal.flush(60.0)
        journal.put(record, at_s, utc, urgent=is_urgent)
        put.append((at_s, record))
        last_s = at_s
    assert journal.flush(60.0)
    return put


def journal_in(
    folder: Path,
    *,
    start: Start = START,
    quota_mb: int | None = None,
    storage: Storage | None = None,
    keeper: Keeper | None = None,
) -> Journal:
    """A journal that is not yet open, with the law and the config attached."""
    return Journal(
        folder,
        start,
        ManualClock(100.0),
        attachments=[LAW, CONFIG],
        quota_mb=quota_mb,
        storage=storage,
        keeper=keeper,
    )


def written(folder: Path, count: int = 60) -> list[tuple[float, Record]]:
    """One boot in the folder, closed in good order; gives back what was put."""
    journal = journal_in(folder)
    journal.open()
    put = put_all(journal, ride(count))
    assert journal.close(100.0 + count / 10, timeout_s=60.0)
    return put


def torn(folder: Path, count: int = 60) -> list[tuple[float, Record]]:
    """One boot in the folder as a power cut leaves it: a picture of a journal that still runs."""
    live = folder.with_name(f"{folder.name}.live")
    if folder.exists():
        folder.rename(live)
    key = folder.with_name(f"{folder.name}.key")
    journal = Journal(live, START, ManualClock(100.0), attachments=[LAW, CONFIG], key_path=key)
    journal.open()
    put = put_all(journal, ride(count))
    shutil.copytree(live, folder)
    assert journal.close(100.0 + count / 10, timeout_s=60.0)
    shutil.rmtree(live)
    return put
