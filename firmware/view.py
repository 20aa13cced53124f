"""The monitor's state as a screen sees it: one `State` out of what is held, found and raised."""

from __future__ import annotations

from firmware.duties import JOURNAL
from firmware.findings import Verdict
from firmware.maps.zones import Near, Nearby
from firmware.monitor import Monitor
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Fix,
    Light,
    Missing,
    Receiver,
    RtcTime,
    Supply,
    Surroundings,
    Tether,
    Why,
)
from firmware.situation.territory import LAW
from firmware.state import MarkSeen, PartSeen, State
from firmware.units import MPS_PER_KMH, MPS_PER_MPH, ft, mph

AHEAD = "zone-ahead"
NEARBY_KINDS = ("dwelling", "shanty", "person")
MPH_OF = {"mph": 1.0, "km/h": MPS_PER_KMH / MPS_PER_MPH}


def state_of(monitor: Monitor, at_s: float, key: str = "", key_print: str = "") -> State:
    """The picture of the unit at an instant, whose journal is sealed by this key."""
    utc = monitor.timekeeper.utc(at_s)
    local = monitor.local(at_s)
    fix = monitor.fix
    here = fix if isinstance(fix, Fix) else None
    limit = _lowest_limit(monitor)
    near = _nearest(monitor, here)
    receiver = monitor.held[Channel.RECEIVER].value
    disk = monitor.held[Channel.JOURNAL].value
    around = monitor.held[Channel.SURROUNDINGS].value
    standing = monitor.alerts.standing()
    is_key_shown = _is_key_shown(monitor)
    return State(
        at_s=at_s,
        is_watching=monitor.is_watching,
        is_standing=monitor.is_standing,
        utc=utc,
        utc_source=monitor.timekeeper.source,
        local_time="" if local is None else local.strftime("%H:%M"),
        lat_deg=None if here is None else here.lat_deg,
        lon_deg=None if here is None else here.lon_deg,
        speed_mph=None if here is None else mph(here.speed_mps),
        speed_error_mph=None if here is None else mph(here.error_mps),
        track_deg=None if here is None else here.track_deg,
        limit_mph=None if limit is None else limit[0],
        limit_clause="" if limit is None else limit[1],
        is_dark=monitor.dark.is_dark,
        zone="" if near is None else near.feature.kind,
        zone_ft=None if near is None else ft(near.distance_m),
        zone_id="" if near is None else near.feature.id,
        head_lamp=_lamp(monitor, Channel.LIGHT_HEAD, "head-lamp"),
        tail_lamp=_lamp(monitor, Channel.LIGHT_TAIL, "tail-lamp"),
        tether=_word(monitor, Channel.TETHER),
        engine=_word(monitor, Channel.ENGINE),
        gps="fix" if here else str(fix),
        satellites=receiver.satellites if isinstance(receiver, Receiver) else None,
        journal=_journal(monitor),
        modes=tuple(sorted(monitor.requests.modes)),
        prompt=_prompt(monitor, has_key=key != "", is_key_shown=is_key_shown),
        answered=monitor.requests.answered,
        answered_s=monitor.requests.answered_s,
        cues=monitor.cues(at_s),
        alert=standing[0] if standing else None,
        alerts=standing,
        findings=tuple(monitor.findings.values()),
        not_watched=tuple(
            f"{one.clause}: {one.why}"
            for one in monitor.findings.values()
            if one.verdict is Verdict.UNKNOWN and (one.topic != LAW or one.clause == LAW)
        ),
        utc_error_s=monitor.timekeeper.error_s(at_s),
        receiver=receiver if isinstance(receiver, Receiver) else None,
        disk=disk if isinstance(disk, Disk) else None,
        packs=around.packs if isinstance(around, Surroundings) else (),
        parts=_parts(monitor),
        marks=_marks(monitor, at_s),
        mode_words=monitor.requests.mode_words,
        fix_at_s=None if here is None else monitor.held[Channel.FIX].mono_s,
        unit=monitor.requests.unit,
        key=key,
        key_print=key_print,
        is_key_shown=is_key_shown and key != "",
    )


def _is_key_shown(monitor: Monitor) -> bool:
    """Whether the glass may give its room to the key: not under way."""
    may = monitor.is_standing or isinstance(monitor.fix, Missing)
    return monitor.requests.is_key_wanted and may


def _prompt(monitor: Monitor, *, has_key: bool, is_key_shown: bool) -> str:
    """The words on the glass: what was asked, then what the day brings."""
    if monitor.requests.prompt:
        return monitor.requests.prompt
    if is_key_shown:
        return "" if has_key else "NO KEY YET"
    return monitor.notices.words or monitor.pack_age.words


def _lowest_limit(monitor: Monitor) -> tuple[float, str] | None:
    """The lowest speed limit that holds here and now, in mph, and its clause; lowest wins."""
    limits = [
        (one.limit * MPH_OF[one.unit], one.clause)
        for one in monitor.findings.values()
        if one.limit is not None and one.unit in MPH_OF and one.topic != AHEAD
    ]
    return min(limits, default=None)


def _nearest(monitor: Monitor, fix: Fix | None) -> Near | None:
    """What lies nearest of all that the packs and the rider's own marks hold."""
    if fix is None:
        return None
    here = (fix.lat_deg, fix.lon_deg)
    maps = [one for one in (monitor.nearby, monitor.requests.marks) if isinstance(one, Nearby)]
    nears = [near for one in maps if (near := one.nearest(NEARBY_KINDS, here)) is not None]
    return min(nears, key=lambda one: one.distance_m, default=None)


def _marks(monitor: Monitor, at_s: float) -> tuple[MarkSeen, ...]:
    return tuple(
        MarkSeen(
            one.kind,
            one.id,
            one.lat_deg,
            one.lon_deg,
            max(0.0, one.expires_s - at_s),
            one.until,
            one.by,
        )
        for one in monitor.requests.marked.standing()
    )


def _lamp(monitor: Monitor, channel: Channel, topic: str) -> str:
    """lit, out, not needed, unknown or not fitted."""
    value = monitor.held[channel].value
    for one in monitor.findings.values():
        if one.topic == topic and one.verdict.is_over:
            return "out"  # also where only its supply is sensed
    if isinstance(value, Missing):
        return "not fitted" if value.why is Why.NOT_FITTED else "unknown"
    for one in monitor.findings.values():
        if one.topic == topic and one.verdict is Verdict.UNKNOWN:
            return "unknown"
        if one.topic == topic and one.limit is not None:
            return "lit"
    return "not needed"


def _word(monitor: Monitor, channel: Channel) -> str:
    match monitor.held[channel].value:
        case Missing(why=why):
            return "not fitted" if why is Why.NOT_FITTED else "unknown"
        case Tether(state=state):
            return str(state)
        case Engine(is_running=is_running):
            return "running" if is_running else "off"
        case _:
            return "unknown"


def _parts(monitor: Monitor) -> tuple[PartSeen, ...]:
    """What is fitted, beside the receiver, the disk and what only speaks when it is touched."""
    apart = (Channel.FIX, Channel.RECEIVER, Channel.JOURNAL, Channel.REQUEST, Channel.BUTTON)
    parts = []
    for channel, held in monitor.held.items():
        value = held.value
        if channel in apart:
            continue
        if isinstance(value, Missing):
            if value.why is not Why.NOT_FITTED:
                parts.append(PartSeen(channel, trouble=str(value)))
        else:
            parts.append(PartSeen(channel, _said(value)))
    return tuple(parts)


def _said(value: object) -> str:
    match value:
        case Light(lux=lux):
            return f"{lux:.0f} lux"
        case Tether(state=state):
            return str(state)
        case Engine(is_running=is_running):
            return "running" if is_running else "off"
        case Supply(is_on=is_on, volts=volts, is_open=is_open):
            word = "open" if is_open else "on" if is_on else "off"
            return word if volts is None else f"{word}, {volts:.1f} V"
        case RtcTime(utc=utc):
            return f"{utc:%Y-%m-%d %H:%M:%S} UTC"
        case Surroundings(features=features, packs=packs, dated=dated):
            known = [one for one in dated if one]
            oldest = f", the oldest of {min(known)}" if known else ""
            return f"{len(packs)} packs{oldest}, {len(features)} features near"
    return "answers"


def _journal(monitor: Monitor) -> str:
    match monitor.held[Channel.JOURNAL].value:
        case Disk(free_mb=free_mb, lost_records=lost, is_nearly_full=is_low):
            room = f"{'nearly full: ' if is_low else ''}{free_mb:.0f} MB free"
            return room + (f", {lost} records lost" if lost else "")
        case Missing(why=Why.STARTING | Why.NOT_FITTED as why):
            return str(why)
        case Missing(why=why, detail=detail):
            return f"not kept: {detail or why}"
    return JOURNAL
