"""What binds a unit: the clauses with their rules, whose law holds where, and what it can see."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from firmware.config.schema import Config
from firmware.law.packs import Clause, Law, Limit
from firmware.parts import load
from firmware.readings import Channel
from firmware.rider.notices import notices_of
from firmware.rules.base import Rule
from firmware.rules.lamp import LOOK_S, levels_of
from firmware.situation.sky import LAMP_LUX
from firmware.situation.territory import InTerritory, Territories
from firmware.steady import Lines, Steady


def bound(laws: Iterable[Law], config: Config, *, has_borders: bool) -> list[tuple[Clause, Rule]]:
    """The clauses of these laws that bind the unit's vehicle, in their order, each with its rule.

    One rule judges all clauses of its kind. With `has_borders` each clause holds in its own
    jurisdiction alone.
    """
    rules: dict[str, Rule] = {}
    watched = []
    for law in laws:
        for clause in law.clause:
            if clause.kind and clause.applies_to == config.unit.vehicle:
                if clause.kind not in rules:
                    rules[clause.kind] = load("rule", clause.kind)(config)
                rule = rules[clause.kind]
                if has_borders:
                    rule = InTerritory(rule, law.jurisdiction)
                watched.append((_with_limit(clause, config), rule))
    return watched


def _with_limit(clause: Clause, config: Config) -> Clause:
    """The clause with the config's own figure where a law says no more than to keep moving."""
    if clause.limit_from != "keep_moving":
        return clause
    return replace(clause, limit=Limit(config.rules.keep_moving_mph), accuses=False)


def sun_offsets(clauses: Iterable[Clause]) -> list[int]:
    """The minutes between sunset and darkness that these clauses go by; 30 without any."""
    offsets = {one.sun_offset_min: None for one in clauses if one.when == "darkness"}
    return list(offsets) or [30]


def territories_of(laws: Iterable[Law], config: Config) -> Territories:
    """Each jurisdiction of these laws, with what all its packs have shown at start."""
    clauses: dict[str, list[Clause]] = {}
    for law in laws:
        clauses.setdefault(law.jurisdiction, []).extend(law.clause)
    vehicle = config.unit.vehicle
    return Territories({one: notices_of(theirs, vehicle) for one, theirs in clauses.items()})


def steady_of(config: Config, *, holds_back: bool) -> Steady:
    """What holds back the looks that say nothing new, and none that crosses a line of the rules."""
    lines = {}
    for lamp, channel in (("head", Channel.LIGHT_HEAD), ("tail", Channel.LIGHT_TAIL)):
        levels = levels_of(config, lamp)
        own = (LAMP_LUX,) if lamp == "head" else ()
        lines[channel] = Lines(
            (*levels.lines, *own), (levels.least_lux,), (levels.red_limit(lamp),)
        )
    ambient = config.light.ambient
    if ambient is not None:
        lines[Channel.LIGHT_AMBIENT] = Lines((ambient.dark_lux, ambient.light_lux))
    return Steady(
        holds_back=holds_back, lines=lines, settle_s=config.rules.lamp_dwell_s + 2.0 * LOOK_S
    )


def fitted_channels(config: Config) -> frozenset[Channel]:
    """The channels that have a source in this config."""
    parts = {
        Channel.LIGHT_HEAD: config.light.head,
        Channel.LIGHT_TAIL: config.light.tail,
        Channel.LIGHT_AMBIENT: config.light.ambient,
        Channel.SUPPLY_HEAD: config.supply.head,
        Channel.SUPPLY_TAIL: config.supply.tail,
        Channel.TETHER: config.tether,
        Channel.ENGINE: config.engine,
        Channel.BUTTON: config.button,
        Channel.RTC: config.rtc,
        Channel.SURROUNDINGS: config.zones.packs or None,
    }
    always = {Channel.FIX, Channel.RECEIVER, Channel.REQUEST, Channel.JOURNAL}
    return frozenset(always | {channel for channel, part in parts.items() if part is not None})
