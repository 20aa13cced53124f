"""A ride whose every name was given by somebody with ideas: unit, vehicle, laws, zones, reasons."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from journal_samples import START, journal_in, put_all

from firmware.findings import Event, Finding, Verdict
from firmware.readings import Channel, Feature, Fix, Reading, Surroundings

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\x07"


def hostile_journal(folder: Path, name: str = HOSTILE) -> Path:
    """A short ride with that name wherever a text stands; gives back its folder."""
    day = datetime(2026, 1, 17, 22, 0, tzinfo=UTC)
    journal = journal_in(
        folder, start=replace(START, unit=name, vehicle=name, laws=(name,), software=name)
    )
    journal.open()
    ring = ((-90.1, 45.0), (-90.0999, 45.0), (-90.0999, 45.0001), (-90.1, 45.0))
    around = Surroundings(
        45.0, -90.1, 2000.0,
        (Feature(name, name, name, "polygon", (ring,)),
         Feature("dwelling", "a", name, "point", (((-90.1001, 45.0001),),))),
    )  # fmt: skip
    given: list[Any] = [(100.0, day, Reading(Channel.SURROUNDINGS, around, 100.0, name), False)]
    for number in range(40):
        at_s = 100.1 + number / 10
        fix = Fix(
            45 + number / 1e5, -90.1, 3.0, 20.0, 0.25, utc=day + timedelta(seconds=number / 10)
        )
        given.append((at_s, fix.utc, Reading(Channel.FIX, fix, at_s, "gps", 2.5), False))
    finding = Finding(name, Verdict.VIOLATION, name, 61.0, 55.0, name, 0.5)
    event = Event(name, Verdict.VIOLATION, 102.0, 61.0, 55.0, name, True, 103.0)
    given += [(104.2, day, finding, False), (104.3, day, event, True)]
    put_all(journal, given)
    assert journal.close(105.0, name, timeout_s=60.0)
    return folder
