"""What a dealer must know of a unit before it leaves: each part, its mark, and what to do next.

Pure: a picture or two of the unit and its configuration in, rows out. All reasons at once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from firmware.config.schema import Config
from firmware.errors import SledwardenError
from firmware.feed.messages import Hello
from firmware.findings import Verdict
from firmware.maps.packs import OLD_DAYS, Pack, age_days
from firmware.readings import Receiver
from firmware.state import State

SATELLITES = 5
"""Four make a fix; a fifth tells when one of them lies."""

HDOP = 2.5
"""With it a position is sure to some 6 m: a zone of 100 ft may still be told from its edge."""

SIGNAL_DBHZ = 30.0
"""An aerial under the open sky hears its best four at 40 and more; under a metal lid at 25."""

RATE_HZ = 1.0
"""The slowest receiver for which a warning is promised within 1.5 s."""

REFUSED_SHARE = 0.01
DATE_ERROR_S = 60.0
ROOM_MB = 100.0


class Row(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A part with its mark. `value` and `limit` are absent where there are none, `cause` and
    `next` where all is well."""

    part: str
    ok: bool
    value: float | int | str | None = None
    limit: float | int | str | None = None
    cause: str | None = None
    next: str | None = None


def no_unit(feed: Path, trouble: str) -> Row:
    """The one row about a unit that is not heard."""
    return Row(
        part="unit",
        ok=False,
        value="not heard",
        limit="a state within 2 s",
        cause=trouble or f"{feed}: the unit says nothing",
        next="Start it: sudo systemctl start sledwardend; look at: journalctl -u sledwardend",
    )


def unit_rows(first: State, last: State, hello: Hello | None) -> Iterator[Row]:
    """All that two pictures of the unit, some seconds apart, tell."""
    version = "" if hello is None else f"sledwarden {hello.version}, process {hello.pid}"
    yield Row(part="unit", ok=True, value=version or "answers", limit="a state within 2 s")
    yield from _key_rows(last)
    yield from _receiver_rows(first, last)
    yield from _part_rows(last)
    yield _clock(last)
    yield _journal(last)
    yield from _rule_rows(last)


def _key_rows(state: State) -> Iterator[Row]:
    """Whose the journal is: what goes into the record of a unit's commissioning."""
    advice = "Look at the card and at [journal] folder: the key is made at the first start."
    named = (
        ("unit: name", state.unit),
        ("unit: key", state.key),
        ("unit: key's print", state.key_print),
    )
    for part, value in named:
        yield _mark(part, value != "", value or None, None, "the journal has no key yet", advice)


def _mark(
    part: str, ok: bool, value: float | int | str | None, limit: float | int | str | None,
    cause: str, then: str,
) -> Row:  # fmt: skip
    """A row that says why and what next only where it is not well."""
    return Row(part=part, ok=ok, value=value, limit=limit,
               cause=None if ok else cause, next=None if ok else then)  # fmt: skip


def _receiver_rows(first: State, last: State) -> Iterator[Row]:
    is_fixed = last.gps == "fix"
    yield _mark(
        "receiver: fix", is_fixed, "fix" if is_fixed else "none", "a fix", last.gps or "no word",
        "Put the aerial under the open sky for a minute; look at the receiver's plug and [gps].",
    )  # fmt: skip
    receiver = last.receiver
    if receiver is None:
        yield _mark("receiver", False, "not heard", "sentences", last.gps or "it sends nothing",
                    "Look at its power and cable, and [gps] port.")  # fmt: skip
        return
    known = receiver.satellites
    yield _mark(
        "receiver: satellites", known is not None and known >= SATELLITES, known, SATELLITES,
        "too few are used" if known is not None else "no GGA or GNS says how many",
        "Move the aerial away from metal, and wait for some minutes under the open sky.",
    )  # fmt: skip
    yield _mark(
        "receiver: HDOP", receiver.hdop is not None and receiver.hdop <= HDOP, receiver.hdop, HDOP,
        "the satellites stand badly" if receiver.hdop is not None else "nothing says it",
        "Move the aerial to where more of the sky is seen.",
    )  # fmt: skip
    yield _mark(
        "receiver: C/N0 dBHz", receiver.cn0_dbhz is None or receiver.cn0_dbhz >= SIGNAL_DBHZ,
        receiver.cn0_dbhz, SIGNAL_DBHZ, "the satellites are heard faintly",
        "Look at the aerial, its plug and what lies over it; keep it off the ignition's wires.",
    )  # fmt: skip
    rate = receiver.rate_hz
    yield _mark(
        "receiver: rate Hz", rate is not None and rate >= RATE_HZ * 0.95, rate, RATE_HZ,
        receiver.setup or "it was not asked for more",
        "Set [gps] configure = true and baud = 38400, or set the receiver with its maker's tool.",
    )  # fmt: skip
    if receiver.setup:
        yield Row(part="receiver: set-up", ok=True, value=receiver.setup)
    yield from _losses(first, last, receiver)


def _losses(first: State, last: State, receiver: Receiver) -> Iterator[Row]:
    """What was lost while it was listened to; what was lost before is said, and is past."""
    before = first.receiver or receiver
    span_s = last.at_s - first.at_s
    lost = max(0, receiver.dropouts - before.dropouts)
    yield _mark(
        "receiver: drop-outs", lost == 0,
        f"{lost} in {span_s:.0f} s, {receiver.dropouts} since start", 0, "the fix comes and goes",
        "Look at the aerial and its plug while shaking the cable.",
    )  # fmt: skip
    said = max(0, receiver.sentences - before.sentences)
    refused = max(0, receiver.refused - before.refused)
    yield _mark(
        "receiver: refused", refused <= REFUSED_SHARE * said,
        f"{refused} of {said} sentences in {span_s:.0f} s", f"{REFUSED_SHARE:.0%}",
        receiver.note or "sentences are damaged on the line",
        "Look at the ground wire and the cable's length; a slower [gps] baud is surer.",
    )  # fmt: skip


LAMPS = {"light.head": ("head lamp", "head_lamp"), "light.tail": ("tail lamp", "tail_lamp")}
NAMES = {
    "light.ambient": "ambient light",
    "supply.head": "head lamp's supply",
    "supply.tail": "tail lamp's supply",
    "tether": "tether",
    "engine": "engine",
    "rtc": "battery clock",
    "surroundings": "zones",
}
ADVICE = {
    "light.head": "Look at the sensor's plug at the head lamp, and [light.head].",
    "light.tail": "Look at the sensor's plug at the tail lamp, and [light.tail].",
    "light.ambient": "Look at the ambient sensor's plug, and [light.ambient].",
    "supply.head": "Look at the sensing wire of the head lamp, and its section.",
    "supply.tail": "Look at the sensing wire of the tail lamp, and its section.",
    "tether": "Look at the switch's plug and wires, and [tether].",
    "engine": "Look at the engine's sensing wire, and [engine].",
    "rtc": "Look at its plug and its battery, and [rtc]; it is set once there is a fix.",
    "surroundings": "Look at [zones] packs: sledwarden zones info PACK.",
}


def _part_rows(state: State) -> Iterator[Row]:
    seen = {part.channel: part for part in state.parts}
    for channel, name in {**{key: name for key, (name, _) in LAMPS.items()}, **NAMES}.items():
        part = seen.pop(channel, None)
        if part is None:
            yield Row(part=name, ok=True, value="not fitted")
            continue
        trouble, value = part.trouble, part.value
        if channel in LAMPS:
            word: str = getattr(state, LAMPS[channel][1])
            value = f"{word}, {value}" if value else word
            if word == "out" and not trouble:
                trouble = "the lamp is out"
        elif channel == "tether" and part.value in ("open", "short"):
            trouble = f"its wire is {'broken' if part.value == 'open' else 'shorted'}"
        elif channel.startswith("supply.") and part.value.startswith("open"):
            trouble = "its wire, or the lamp behind it, is broken"
        elif channel == "surroundings" and not trouble and not state.packs:
            trouble = "no zone pack is in use"
        yield _mark(name, not trouble, value or None, None, trouble, ADVICE[channel])
    for channel, part in seen.items():  # what a later version has fitted
        yield _mark(channel, not part.trouble, part.value or None, None, part.trouble,
                    f"Look at its plug, and [{channel}].")  # fmt: skip


def _clock(state: State) -> Row:
    error_s = state.utc_error_s
    return _mark(
        "clock", state.utc is not None and error_s is not None and error_s <= DATE_ERROR_S,
        state.utc_source if error_s is None else f"{state.utc_source}, to {error_s:.1f} s",
        f"{DATE_ERROR_S:.0f} s", "no date yet" if state.utc is None else "the date is too unsure",
        "Wait for a fix; a battery clock ([rtc]) gives a date before it.",
    )  # fmt: skip


def _journal(state: State) -> Row:
    disk = state.disk
    if disk is None:
        return _mark("journal", False, "not kept", ROOM_LIMIT, state.journal,
                     "Look at the card and at [journal] folder.")  # fmt: skip
    what = f"{disk.lost_records} records were lost" if disk.lost_records else "the card is full"
    return _mark(
        "journal", disk.free_mb >= ROOM_MB and not disk.lost_records, state.journal, ROOM_LIMIT,
        what, "Download and clear the folder, or try another card.",
    )  # fmt: skip


ROOM_LIMIT = f"{ROOM_MB:.0f} MB free, none lost"


def _rule_rows(state: State) -> Iterator[Row]:
    count = len(state.findings)
    yield _mark("rules", count > 0, f"{count} loaded", "at least 1", "no clause is judged",
                'Name a law: [unit] law = ["wi"].')  # fmt: skip
    for one in state.findings:
        if one.verdict is Verdict.UNKNOWN and one.is_fitted:
            yield Row(part=f"rule {one.clause}", ok=False, value="not watched", cause=one.why,
                      next="Mend the part that it needs, in a row above.")  # fmt: skip


def pack_rows(config: Config, today: dt.date) -> Iterator[Row]:
    """Each zone pack that the configuration names: whether it can be read, and how old it is."""
    for pack in config.zones.packs:
        part = f"zones: {Path(pack).name}"
        try:
            with closing(Pack(pack)) as opened:  # not counted: a state's takes a minute on a card
                days = age_days(opened.dated, today)
        except SledwardenError as fault:
            yield Row(part=part, ok=False, value="can't be used", cause=str(fault),
                      next="Build it again: sledwarden zones build.")  # fmt: skip
            continue
        if days is None:
            yield Row(part=part, ok=True, value="can be read; its date is not known")
            continue
        yield _mark(
            part, days <= OLD_DAYS, f"{days} days old, by its date {opened.dated}",
            f"{OLD_DAYS} days", "the map is old", "Build it anew from today's map.",
        )  # fmt: skip
