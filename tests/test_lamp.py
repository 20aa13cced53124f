"""350.09(2)(b) and (3): lamps lit in hours of darkness, in operation, by the second."""

from __future__ import annotations

from itertools import pairwise

import pytest
from judging import DAY, DIM, NIGHT, NO_FIX, NOT_KNOWN, clause_of, configured, fix_of, seen

from firmware.findings import Finding, Verdict
from firmware.readings import Engine, Light, Missing, Supply, Why
from firmware.rules.base import NEVER, Dark, Snapshot
from firmware.rules.lamp import LampLit, Outage

HEAD, TAIL = clause_of("350.09(2)(b)"), clause_of("350.09(3)")
PARTS = (
    '[light.head]\nchip = "bh1750"\naddress = 0x23\n{head}'
    '[light.tail]\nchip = "tcs34725"\naddress = 0x29\n{tail}'
)
UNCALIBRATED = LampLit(configured(PARTS.format(head="", tail="")))
CALIBRATED = LampLit(configured(PARTS.format(head="on_lux = 800\n", tail="on_lux = 300\n")))
LIT, OUT = Light(800.0, 10.0), Light(2.0, 1.0)
NOT_FITTED = Missing(Why.NOT_FITTED)


def ride(*moments: tuple[float, dict[str, object]], rule: LampLit = UNCALIBRATED) -> list[Finding]:
    """The findings on the head lamp at each moment; every due instant in between is judged too."""
    memory, findings = rule.begin(), []
    for (at_s, changes), (next_s, _) in pairwise([*moments, (moments[-1][0], {})]):
        memory, finding = rule.judge(memory, seen(at_s=at_s, **changes), HEAD)
        findings.append(finding)
        while memory.due_s < next_s:
            due_s = memory.due_s
            memory, finding = rule.judge(memory, seen(at_s=due_s, **changes), HEAD)
            assert memory.due_s > due_s
    return findings


def judge(rule: LampLit, now: Snapshot, memory: Outage | None = None) -> tuple[Outage, Finding]:
    return rule.judge(rule.begin() if memory is None else memory, now, HEAD)


def settled(**changes: object) -> Finding:
    """The finding on a head lamp that has looked like this for 3 s."""
    return ride((100.0, changes), (103.0, changes))[-1]


@pytest.mark.parametrize(
    ("lux", "verdict"),
    [(0.0, Verdict.UNSURE), (49.9, Verdict.UNSURE), (50.0, Verdict.COMPLIANT)],
)
def test_a_lamp_that_was_never_calibrated_is_out_below_50_lux(lux: float, verdict: Verdict) -> None:
    finding = settled(head=Light(lux, 5.0))
    assert finding.verdict is verdict
    assert (finding.value, finding.limit, finding.unit, finding.error) == (lux, 50.0, "lux", 5.0)
    assert finding.topic == "head-lamp"


@pytest.mark.parametrize(("lux", "verdict"), [(399.9, Verdict.UNSURE), (400.0, Verdict.COMPLIANT)])
def test_a_calibrated_lamp_is_out_below_half_of_its_own_level(lux: float, verdict: Verdict) -> None:
    changes: dict[str, object] = {"head": Light(lux, 5.0)}
    finding = ride((100.0, changes), (103.0, changes), rule=CALIBRATED)[-1]
    assert (finding.verdict, finding.limit) == (verdict, 400.0)
    assert finding.why == ("head lamp lit" if lux >= 400 else "head lamp dim: 400 lux, needs 400")


def test_each_lamp_has_its_own_level() -> None:
    memory, _ = CALIBRATED.judge(CALIBRATED.begin(), seen(tail=Light(149.0, 5.0)), TAIL)
    _, finding = CALIBRATED.judge(memory, seen(at_s=102.0, tail=Light(149.0, 5.0)), TAIL)
    assert (finding.verdict, finding.limit) == (Verdict.UNSURE, 150.0)
    assert finding.topic == "tail-lamp"


def test_a_lamp_is_out_once_it_was_dark_for_2_s_and_not_a_moment_before() -> None:
    out: dict[str, object] = {"head": OUT}
    verdicts = [one.verdict for one in ride((100.0, out), (101.999, out), (102.0, out))]
    assert verdicts == [Verdict.COMPLIANT, Verdict.COMPLIANT, Verdict.UNSURE]


def test_the_2_s_are_due_by_time_alone_once_the_next_look_would_have_come() -> None:
    memory, finding = judge(UNCALIBRATED, seen(at_s=100.0, head=OUT))
    assert (finding.verdict, memory.due_s) == (Verdict.COMPLIANT, 102.26)
    memory, finding = judge(UNCALIBRATED, seen(at_s=101.9, head=OUT), memory)
    assert (finding.verdict, memory.due_s) == (Verdict.COMPLIANT, 102.26)
    last_look: dict[str, object] = {"head": OUT, "head_seen_s": 101.9}
    _, finding = judge(UNCALIBRATED, seen(at_s=102.2, **last_look), memory)
    assert finding.verdict is Verdict.COMPLIANT
    _, finding = judge(UNCALIBRATED, seen(at_s=102.26, **last_look), memory)
    assert finding.verdict is Verdict.UNSURE
    memory, finding = judge(UNCALIBRATED, seen(at_s=102.26, head=OUT), memory)
    assert finding.verdict is Verdict.UNSURE
    assert memory.due_s == pytest.approx(160.0)


def test_false_zeros_between_good_readings_are_no_outage() -> None:
    # Starmbi/hp_BH1750#2: a reading or two of sixty are zero
    series = [310, 312, 0, 311, 309, 313, 0, 310]
    moments = [(100.0 + n, {"head": Light(float(lux), 1.0)}) for n, lux in enumerate(series)]
    assert {one.verdict for one in ride(*moments)} == {Verdict.COMPLIANT}


def test_riding_on_for_60_s_without_a_lamp_is_a_violation_counted_from_when_it_went_dark() -> None:
    out: dict[str, object] = {"head": OUT}
    findings = ride((100.0, out), (102.0, out), (159.99, out), (160.0, out))
    assert [one.verdict for one in findings[1:]] == [
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.VIOLATION,
    ]


def test_the_60_s_pass_by_time_alone_between_two_readings() -> None:
    memory, _ = judge(UNCALIBRATED, seen(at_s=100.0, head=OUT))
    instants = []
    while memory.due_s < NEVER:
        instants.append(memory.due_s)
        memory, finding = judge(UNCALIBRATED, seen(at_s=memory.due_s, head=OUT), memory)
    assert instants == [102.26, pytest.approx(160.0)]
    assert finding.verdict is Verdict.VIOLATION


def test_many_small_steps_make_the_same_60_s_as_one() -> None:
    out: dict[str, object] = {"head": OUT}
    findings = ride(*[(100.0 + step * 0.1, out) for step in range(602)])
    verdicts = [one.verdict for one in findings]
    assert verdicts.index(Verdict.UNSURE) == 20
    assert verdicts.index(Verdict.VIOLATION) == 600


def test_only_riding_counts_towards_the_60_s() -> None:
    riding: dict[str, object] = {"head": OUT}
    waiting: dict[str, object] = {"head": OUT, "fix": fix_of(0.0)}
    moments = [(100.0, riding), (130.0, waiting), (500.0, riding), (529.9, riding), (530.0, riding)]
    verdicts = [one.verdict for one in ride(*moments)]
    assert verdicts[1:] == [Verdict.UNSURE] * 3 + [Verdict.VIOLATION]


def test_a_lamp_that_comes_back_begins_anew() -> None:
    out: dict[str, object] = {"head": OUT}
    findings = ride((100.0, out), (159.0, out), (159.5, {"head": LIT}), (160.0, out), (163.0, out))
    assert [one.verdict for one in findings] == [
        Verdict.COMPLIANT,
        Verdict.UNSURE,
        Verdict.COMPLIANT,
        Verdict.COMPLIANT,
        Verdict.UNSURE,
    ]


def test_too_little_natural_light_never_makes_a_violation() -> None:
    dim: dict[str, object] = {"head": OUT, "dark": DIM}
    findings = ride((100.0, dim), (102.0, dim), (300.0, dim))
    assert [one.verdict for one in findings[1:]] == [Verdict.UNSURE, Verdict.UNSURE]


def test_where_lamps_are_for_the_dark_alone_little_light_is_not_taken_for_daylight() -> None:
    for dark in (DIM, Dark(None, True)):
        finding = settled(head=LIT, dark=dark)
        assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "head lamp lit")


def test_when_the_sun_is_down_too_the_riding_so_far_counts() -> None:
    dim: dict[str, object] = {"head": OUT, "dark": DIM}
    findings = ride((100.0, dim), (300.0, dim), (301.0, {"head": OUT, "dark": NIGHT}))
    assert findings[-1].verdict is Verdict.VIOLATION


def test_by_day_no_lamp_is_asked_for() -> None:
    for head in (LIT, OUT, Missing(Why.STALE), NOT_FITTED):
        finding = settled(head=head, dark=DAY)
        assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "daylight")
        assert finding.limit is None


def test_a_lamp_is_unknown_while_it_is_not_known_whether_it_is_dark() -> None:
    finding = settled(head=LIT, dark=NOT_KNOWN)
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, NOT_KNOWN.why)


@pytest.mark.parametrize("why", [Why.NO_ANSWER, Why.STALE, Why.SATURATED, Why.STARTING])
def test_a_lamp_that_is_not_seen_is_unknown_not_lit(why: Why) -> None:
    finding = settled(head=Missing(why))
    assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, True)
    assert finding.why == f"head lamp not seen ({why})"


def test_a_lamp_without_a_sensor_is_told_apart_from_one_that_fails() -> None:
    finding = settled(head=NOT_FITTED)
    assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, False)


# Operation.


def test_parked_with_the_engine_off_no_lamp_is_asked_for() -> None:
    for fix in (fix_of(0.0), NO_FIX):
        finding = settled(head=OUT, engine=Engine(False), fix=fix)
        assert finding.verdict is Verdict.COMPLIANT
        assert finding.why == "parked with the engine off is not operation"


def test_parked_needs_no_sensor_to_be_parked() -> None:
    finding = settled(head=Missing(Why.NO_ANSWER), engine=Engine(False), fix=fix_of(0.0))
    assert finding.verdict is Verdict.COMPLIANT


def test_standing_with_the_engine_running_is_operation() -> None:
    assert settled(head=OUT, engine=Engine(True), fix=fix_of(0.0)).verdict is Verdict.UNSURE


def test_rolling_with_the_engine_off_is_operation() -> None:
    assert settled(head=OUT, engine=Engine(False), fix=fix_of(1.0)).verdict is Verdict.UNSURE


def test_an_engine_sense_that_fails_is_taken_as_running() -> None:
    for why in (Why.NO_ANSWER, Why.STALE, Why.STARTING):
        finding = settled(head=OUT, engine=Missing(why), fix=fix_of(0.0))
        assert finding.verdict is Verdict.UNSURE


def test_without_an_engine_sense_operation_is_motion() -> None:
    still = settled(head=OUT, engine=NOT_FITTED, fix=fix_of(0.99))
    assert (still.verdict, still.why) == (Verdict.COMPLIANT, "not moving")
    assert settled(head=OUT, engine=NOT_FITTED, fix=fix_of(1.0)).verdict is Verdict.UNSURE


def test_without_engine_sense_and_fix_a_dark_lamp_is_unknown_not_compliant() -> None:
    finding = settled(head=OUT, engine=NOT_FITTED, fix=NO_FIX)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.why == "head lamp out, but not known whether the sled moves"


def test_without_engine_sense_and_fix_a_lit_lamp_is_still_lit() -> None:
    finding = settled(head=LIT, engine=NOT_FITTED, fix=NO_FIX)
    assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "head lamp lit")


def test_with_the_engine_running_a_dark_lamp_is_out_without_a_fix_too() -> None:
    finding = settled(head=OUT, engine=Engine(True), fix=NO_FIX)
    assert (finding.verdict, finding.why) == (Verdict.UNSURE, "head lamp out: 2 lux, needs 50")


def test_a_dwell_of_the_config_waits_for_the_next_look_however_short_it_is() -> None:
    rule = LampLit(configured("[rules]\nlamp_dwell_s = 0.5\n"))
    memory, _ = judge(rule, seen(at_s=100.0, head=OUT))
    assert memory.due_s == pytest.approx(100.76)


def test_a_fix_that_is_lost_for_a_moment_does_not_begin_the_60_s_anew() -> None:
    for engine in (NOT_FITTED, Engine(True)):
        riding: dict[str, object] = {"head": OUT, "engine": engine}
        lost: dict[str, object] = {"head": OUT, "engine": engine, "fix": NO_FIX}
        findings = ride((100.0, riding), (150.0, lost), (155.0, riding), (165.0, riding))
        assert findings[-1].verdict is Verdict.VIOLATION


# The colour of the tail lamp.


def tail(light: Light) -> Finding:
    memory, _ = CALIBRATED.judge(CALIBRATED.begin(), seen(at_s=100.0, tail=light), TAIL)
    _, finding = CALIBRATED.judge(memory, seen(at_s=102.0, tail=light), TAIL)
    return finding


def test_a_tail_lamp_that_is_lit_but_white_is_told_by_its_share_of_red() -> None:
    finding = tail(Light(300.0, 5.0, red_share=0.33))
    assert finding.verdict is Verdict.UNSURE
    assert finding.why == "tail lamp not red: 33% of its light is red"
    assert (finding.value, finding.limit, finding.unit) == (0.33, 0.5, "share of red")
    assert finding.error is None


def test_riding_on_for_60_s_with_a_tail_lamp_that_is_not_red_is_a_violation() -> None:
    white, memory, verdicts = Light(300.0, 5.0, red_share=0.33), CALIBRATED.begin(), []
    for at_s in (100.0, 102.0, 159.9, 160.0):
        memory, finding = CALIBRATED.judge(memory, seen(at_s=at_s, tail=white), TAIL)
        verdicts.append(finding.verdict)
    assert verdicts[1:] == [Verdict.UNSURE, Verdict.UNSURE, Verdict.VIOLATION]


@pytest.mark.parametrize("red_share", [None, 0.5, 0.9])
def test_a_red_tail_lamp_and_one_without_a_colour_sense_are_as_they_must_be(
    red_share: float | None,
) -> None:
    finding = tail(Light(300.0, 5.0, red_share=red_share))
    assert (finding.verdict, finding.why, finding.unit) == (
        Verdict.COMPLIANT,
        "tail lamp lit",
        "lux",
    )


def test_a_tail_lamp_that_is_dark_is_out_whatever_its_colour() -> None:
    finding = tail(Light(1.0, 5.0, red_share=0.9))
    assert finding.why == "tail lamp out: 1 lux, needs 150"
    assert tail(Light(1.0, 5.0, red_share=0.2)).unit == "lux"


def test_a_head_lamp_is_not_asked_for_red() -> None:
    white = Light(800.0, 5.0, red_share=0.33)
    assert settled(head=white).verdict is Verdict.COMPLIANT


def test_without_a_dwell_a_lamp_is_out_at_once_and_time_still_goes_on() -> None:
    rule = LampLit(configured("[rules]\nlamp_dwell_s = 0\nlamp_violation_s = 0\n"))
    memory, finding = judge(rule, seen(head=OUT, dark=Dark(True, None)))
    assert finding.verdict is Verdict.VIOLATION
    assert memory.due_s == NEVER


# The supply, and the rest of the truth table.

ON_SUPPLY, NO_SUPPLY, HANGS_FREE = Supply(True), Supply(False), Supply(False, 1.8, is_open=True)


def test_without_light_and_supply_it_is_a_violation_after_2_s() -> None:
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, off), (101.9, off), (102.0, off))
    assert [one.verdict for one in findings] == [
        Verdict.COMPLIANT,
        Verdict.COMPLIANT,
        Verdict.VIOLATION,
    ]
    assert findings[-1].why == "head lamp off: it has no supply"


def test_too_little_natural_light_never_accuses_a_lamp_without_supply() -> None:
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY, "dark": DIM}
    assert ride((100.0, off), (300.0, off))[-1].verdict is Verdict.UNSURE


def test_a_supply_that_goes_while_the_bulb_is_out_has_its_own_2_s() -> None:
    out: dict[str, object] = {"head": OUT, "head_supply": ON_SUPPLY}
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, out), (110.0, out), (110.5, off), (112.0, off), (112.5, off))
    assert [one.verdict for one in findings[1:]] == [Verdict.UNSURE] * 3 + [Verdict.VIOLATION]


def test_a_light_that_is_within_its_error_of_the_limit_is_never_accused() -> None:
    dim: dict[str, object] = {"head": Light(45.0, 11.5)}
    assert ride((100.0, dim), (300.0, dim))[-1].verdict is Verdict.UNSURE
    sure: dict[str, object] = {"head": Light(35.0, 9.5)}
    assert ride((100.0, sure), (300.0, sure))[-1].verdict is Verdict.VIOLATION
    at_it: dict[str, object] = {"head": Light(40.0, 10.0)}  # 50 lux, where its error ends
    assert ride((100.0, at_it), (300.0, at_it))[-1].verdict is Verdict.UNSURE


def test_light_and_supply_that_go_within_two_looks_are_one_outage() -> None:
    out: dict[str, object] = {"head": OUT, "head_supply": ON_SUPPLY}
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, out), (100.3, off), (101.9, off), (102.0, off))
    assert [one.verdict for one in findings] == [Verdict.COMPLIANT] * 3 + [Verdict.VIOLATION]


def test_a_supply_that_goes_more_than_two_looks_after_its_light_is_an_outage_of_its_own() -> None:
    # Two looks are 0.52 s: after 0.6 s it has its own 2 s, up to 102.6.
    out: dict[str, object] = {"head": OUT, "head_supply": ON_SUPPLY}
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, out), (100.6, off), (102.0, off), (102.5, off), (102.61, off))
    assert [one.verdict for one in findings[2:]] == [Verdict.UNSURE] * 2 + [Verdict.VIOLATION]


def test_what_is_never_accused_is_not_for_the_minute_ridden_before_it_either() -> None:
    out: dict[str, object] = {"head": OUT, "head_supply": ON_SUPPLY}
    glows: dict[str, object] = {"head": LIT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, out), (161.0, out), (162.0, glows))
    assert [one.verdict for one in findings[1:]] == [Verdict.VIOLATION, Verdict.UNSURE]


def test_nothing_is_due_while_the_sled_stands_or_the_lamp_is_never_accused() -> None:
    still: dict[str, object] = {"head": OUT, "fix": fix_of(0.0)}
    glows: dict[str, object] = {"head": LIT, "head_supply": NO_SUPPLY}
    for changes in (still, glows):
        memory, _ = judge(UNCALIBRATED, seen(at_s=100.0, **changes))
        memory, finding = judge(UNCALIBRATED, seen(at_s=103.0, **changes), memory)
        assert (finding.verdict, memory.due_s) == (Verdict.UNSURE, NEVER)


def test_a_lamp_whose_sensor_is_dead_is_off_where_its_supply_is() -> None:
    blind: dict[str, object] = {"head": Missing(Why.NO_ANSWER), "head_supply": NO_SUPPLY}
    assert ride((100.0, blind), (102.0, blind))[-1].verdict is Verdict.VIOLATION
    fed: dict[str, object] = {"head": Missing(Why.NO_ANSWER), "head_supply": ON_SUPPLY}
    assert ride((100.0, fed), (102.0, fed))[-1].verdict is Verdict.UNKNOWN


def test_light_without_supply_is_never_accused() -> None:
    seen_so: dict[str, object] = {"head": LIT, "head_supply": NO_SUPPLY}
    findings = ride((100.0, seen_so), (102.0, seen_so), (300.0, seen_so))
    assert [one.verdict for one in findings] == [
        Verdict.COMPLIANT,
        Verdict.UNSURE,
        Verdict.UNSURE,
    ]
    assert findings[-1].why == "head lamp has no supply: yet 800 lux are seen"


def test_a_broken_wire_is_unsure_and_a_violation_after_a_minute_of_riding() -> None:
    broken: dict[str, object] = {"head": OUT, "head_supply": HANGS_FREE}
    findings = ride((100.0, broken), (102.0, broken), (160.0, broken))
    assert [one.verdict for one in findings[1:]] == [Verdict.UNSURE, Verdict.VIOLATION]
    assert findings[-1].why == "head lamp wire open: no light, and its wire hangs free"


def test_a_lamp_without_supply_needs_no_lamp_by_day_or_when_parked() -> None:
    off: dict[str, object] = {"head": OUT, "head_supply": NO_SUPPLY}
    assert settled(**off, dark=DAY).verdict is Verdict.COMPLIANT
    parked = settled(**off, engine=Engine(False), fix=fix_of(0.0))
    assert parked.verdict is Verdict.COMPLIANT


def test_a_covered_lamp_is_never_accused() -> None:
    series = [(100.0, 800.0), (101.0, 950.0), (102.0, 1100.0), (103.0, 1250.0), (400.0, 1250.0)]
    findings = ride(*[(at_s, {"head": Light(lux, 1.0)}) for at_s, lux in series], rule=CALIBRATED)
    assert findings[-1].verdict is Verdict.UNSURE
    assert findings[-1].why == "head lamp covered: 1250 lux thrown back, 800 when clear"


def test_a_blinded_sensor_is_unknown_after_2_s_and_not_at_a_flash() -> None:
    glare: dict[str, object] = {"head": Light(20_000.0, 1.0)}
    findings = ride((100.0, glare), (101.0, glare), (102.0, glare), rule=CALIBRATED)
    assert [one.verdict for one in findings] == [
        Verdict.COMPLIANT,
        Verdict.COMPLIANT,
        Verdict.UNKNOWN,
    ]
    assert findings[-1].why == ("head lamp not seen: blinded, 20000 lux are no light of its own")


def test_what_was_covered_does_not_count_towards_the_minute() -> None:
    moments = [(100.0, 800.0), (101.0, 950.0), (102.0, 1100.0), (103.0, 1250.0), (200.0, 0.0)]
    series = [(at_s, {"head": Light(lux, 1.0)}) for at_s, lux in (*moments, (259.0, 0.0))]
    findings = ride(*series, (260.0, {"head": Light(0.0, 1.0)}), rule=CALIBRATED)
    assert [one.verdict for one in findings[-3:]] == [
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.VIOLATION,
    ]


@pytest.mark.parametrize("length_s", [0.25, 1.0, 1.9, 1.99])
@pytest.mark.parametrize("phase_s", [0.0, 0.1, 0.24])
def test_a_flicker_shorter_than_2_s_is_no_outage_however_the_looks_fall(
    length_s: float, phase_s: float
) -> None:
    memory, verdicts, light, seen_s = UNCALIBRATED.begin(), set(), LIT, 100.0
    for tick in range(40):
        at_s = 100.0 + tick / 4 + phase_s
        is_out = 103.0 <= at_s < 103.0 + length_s
        while memory.due_s <= at_s:  # time passes between two looks
            now = seen(at_s=memory.due_s, head=light, head_seen_s=seen_s)
            memory, finding = UNCALIBRATED.judge(memory, now, HEAD)
            verdicts.add(finding.verdict)
        light, seen_s = OUT if is_out else LIT, at_s
        memory, finding = UNCALIBRATED.judge(memory, seen(at_s=at_s, head=light), HEAD)
        verdicts.add(finding.verdict)
    assert verdicts == {Verdict.COMPLIANT}
