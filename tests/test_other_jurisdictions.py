"""What other laws than Wisconsin's ask of the rules: dusk at sunset, lamps by day, advice, km/h."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import msgspec
import pytest
from judging import DAY, NIGHT, clause_of, configured, fix_of, local_of, seen

from firmware import monitor
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause, Law, Limit
from firmware.readings import Channel, Engine, Fix, Light, Missing, Reading, Supply, Why
from firmware.rules.base import Dark
from firmware.rules.lamp import LampLit
from firmware.rules.speed_limit import SpeedLimit
from firmware.situation.sky import Sky
from firmware.sun import hours_of_darkness
from firmware.units import mps

NIGHT_SPEED = clause_of("350.10(1)(gm)")
FROM_SUNSET = msgspec.structs.replace(NIGHT_SPEED, citation="sunset", sun_offset_min=0)
HEAD = msgspec.structs.replace(clause_of("350.09(2)(b)"), when="always")
LAMPS = LampLit(
    configured('[light.head]\nchip = "bh1750"\naddress = 0x23\n[light.ambient]\n'
               'chip = "bh1750"\naddress = 0x5C\n')
)  # fmt: skip
LIT, OUT = Light(800.0, 10.0), Light(2.0, 1.0)
EAGLE_RIVER = (45.917, -89.244)

# 16 January 2026 at Eagle River: sunset at 22:41 UTC (JPL DE421), dark by the half hour at 23:11.
BETWEEN = datetime(2026, 1, 16, 22, 55, tzinfo=UTC)


def lamp(**changes: object) -> Finding:
    """The finding on a head lamp that has looked like this for 3 s."""
    memory, _ = LAMPS.judge(LAMPS.begin(), seen(**changes), HEAD)
    return LAMPS.judge(memory, seen(at_s=103.0, **changes), HEAD)[1]


# Dusk


def test_a_law_without_half_hours_is_dark_from_sunset_on() -> None:
    assert hours_of_darkness(*EAGLE_RIVER, BETWEEN).is_dark is False
    for offset_min, is_dark in ((30, False), (0, True)):
        sky = Sky(5.0, 10.0, 30.0, offset_min)
        sky.take_place(*EAGLE_RIVER)
        assert sky.judge(BETWEEN, 0.0).is_dark is is_dark


def test_each_clause_is_judged_by_its_own_dusk() -> None:
    law = Law(
        id="x", title="X", jurisdiction="X", checked_on=date(2026, 1, 1),
        clause=(NIGHT_SPEED, FROM_SUNSET),
    )  # fmt: skip
    core = monitor.build(configured("[clock]\nfloor = 2026-01-01\n"), [law], frozenset(Channel))
    verdicts = []
    for minutes in (0, 30):
        utc = BETWEEN + timedelta(minutes=minutes)
        fix = Fix(*EAGLE_RIVER, 3.0, mps(60.0), mps(0.5), None, utc)
        at_s = 100.0 + minutes * 60.0
        core.step(Reading(Channel.FIX, fix, at_s, "test", 2.5), at_s)
        verdicts.append([core.findings[one.citation].verdict for one in law.clause])
    assert verdicts == [
        [Verdict.COMPLIANT, Verdict.VIOLATION],
        [Verdict.VIOLATION, Verdict.VIOLATION],
    ]


def test_near_dusk_by_a_clock_that_may_be_off_the_reason_is_the_dusk_and_not_the_light() -> None:
    rule = SpeedLimit(configured())
    now = seen(fix=fix_of(60.0), dark=Dark(True, None, is_sure=False))
    _, finding = rule.judge(rule.begin(), now, NIGHT_SPEED)
    assert (finding.verdict, finding.why) == (Verdict.UNSURE, "about dusk or dawn")


# Lamps at all hours


def test_a_lamp_that_must_always_be_lit_is_out_by_day_too() -> None:
    finding = lamp(head=OUT, dark=DAY)
    assert (finding.verdict, finding.why) == (
        Verdict.UNSURE,
        "head lamp out: 2 lux, needs 50",
    )


@pytest.mark.parametrize(
    ("changes", "verdict", "why"),
    [
        pytest.param({}, Verdict.UNKNOWN, "head lamp not told from daylight", id="no ambient"),
        pytest.param(
            {"ambient": Light(40.0, 9.0)}, Verdict.COMPLIANT, "head lamp lit", id="a dim sky"
        ),
        pytest.param(
            {"ambient": Light(40.0, 10.0)},
            Verdict.UNKNOWN,
            "head lamp not told from daylight",
            id="a sky as bright as a lamp, by its error",
        ),
        pytest.param(
            {"head_supply": Supply(True)},
            Verdict.COMPLIANT,
            "head lamp supplied: its light is not told from daylight",
            id="its supply",
        ),
        pytest.param(
            {"head_supply": Supply(False, 1.8, is_open=True)},
            Verdict.UNKNOWN,
            "head lamp not told from daylight",
            id="a wire that hangs free is no supply",
        ),
        pytest.param({"dark": NIGHT}, Verdict.COMPLIANT, "head lamp lit", id="at night"),
    ],
)
def test_a_lit_lamp_by_day_counts_only_where_daylight_can_t_be_taken_for_it(
    changes: dict[str, object], verdict: Verdict, why: str
) -> None:
    finding = lamp(**{"head": LIT, "dark": DAY} | changes)
    assert (finding.verdict, finding.why) == (verdict, why)


def test_an_off_lamp_by_day_is_a_violation_after_2_s_where_its_supply_says_so() -> None:
    finding = lamp(head=OUT, head_supply=Supply(False), dark=DAY)
    assert finding.verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("year", "local", "verdict"),
    [
        pytest.param(2001, "2026-01-01T06:00", Verdict.EXEMPT, id="25 model years back"),
        pytest.param(2001, "2026-01-01T05:59", Verdict.VIOLATION, id="the last minute of 2025"),
        pytest.param(2002, "2026-12-31T12:00", Verdict.VIOLATION, id="24 model years back"),
        pytest.param(None, "2026-01-01T06:00", Verdict.UNSURE, id="nobody told its year"),
        pytest.param(2019, "", Verdict.UNSURE, id="nobody knows the date"),
    ],
)
def test_a_law_that_lets_off_old_sleds_accuses_none_that_may_be_one(
    year: int | None, local: str, verdict: Verdict
) -> None:
    rule = LampLit(configured(f"year = {year}\n" if year else ""))
    clause = msgspec.structs.replace(HEAD, exempt_aged=25)
    changes = {
        "head": OUT, "head_supply": Supply(False), "dark": DAY,
        "local": local_of(local) if local else None,
    }  # fmt: skip
    memory, _ = rule.judge(rule.begin(), seen(**changes), clause)
    assert rule.judge(memory, seen(at_s=103.0, **changes), clause)[1].verdict is verdict


def test_a_lit_lamp_needs_no_year() -> None:
    rule, clause = LampLit(configured()), msgspec.structs.replace(HEAD, exempt_aged=25)
    assert rule.judge(rule.begin(), seen(), clause)[1].verdict is Verdict.COMPLIANT


def test_parked_by_day_no_lamp_is_asked_for() -> None:
    finding = lamp(head=OUT, dark=DAY, fix=fix_of(0.0), engine=Engine(False))
    assert finding.verdict is Verdict.COMPLIANT
    assert finding.limit is None


# Advice, and km/h


def speed(clause: Clause, speed_mph: float) -> Finding:
    rule = SpeedLimit(configured())
    return rule.judge(rule.begin(), seen(fix=fix_of(speed_mph)), clause)[1]


def test_advice_never_accuses_however_far_over() -> None:
    advice = msgspec.structs.replace(NIGHT_SPEED, when="always", accuses=False)
    assert speed(advice, 55.0).verdict is Verdict.APPROACHING
    assert speed(advice, 120.0).verdict is Verdict.UNSURE


def test_a_limit_in_km_h_is_judged_in_km_h() -> None:
    metric = msgspec.structs.replace(NIGHT_SPEED, when="always", limit=Limit(50.0, "km/h"))
    # 50 km/h are 31.0686 mph; the error of 0.5 mph is 0.8 km/h.
    kept, unsure, over = (speed(metric, one) for one in (31.068, 31.5, 31.6))
    assert (kept.verdict, unsure.verdict, over.verdict) == (
        Verdict.APPROACHING,
        Verdict.UNSURE,
        Verdict.VIOLATION,
    )
    assert (over.limit, over.unit) == (50.0, "km/h")
    assert over.value == pytest.approx(50.8553, abs=1e-3)


def test_no_ambient_sensor_is_no_light() -> None:
    assert seen().ambient == Missing(Why.NOT_FITTED)
