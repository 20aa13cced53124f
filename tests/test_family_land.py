"""350.10(2): on the land of the rider's family no sign binds, by their word or by a map."""

from __future__ import annotations

import msgspec
import pytest
from judging import HOME, NO_FIX, east_of, fix_of, map_of, seen, square
from test_stop import CLAUSE, RULE, STOP

from firmware.findings import Verdict
from firmware.maps.zones import Nearby
from firmware.readings import Missing, Why

ON = frozenset({"family_land"})
DRAWN = map_of(STOP, square("family_land", HOME, 400.0, "ours"), is_covered=False)
NO_MAP = Missing(Why.NO_ANSWER)


def test_the_family_s_own_land_lifts_the_signs() -> None:
    clause = msgspec.structs.replace(CLAUSE, lifted_by=("family_land",))
    fix = fix_of(30.0, east_of(-44.0), track_deg=90.0)
    nearby = map_of(STOP, is_covered=False)
    now = seen(fix=fix, nearby=nearby, modes=frozenset({"family_land"}))
    assert RULE.judge(RULE.begin(), now, clause)[1].verdict is Verdict.EXEMPT


def test_where_a_map_draws_the_family_s_land_it_lifts_the_signs_on_it_alone() -> None:
    land = square("family_land", east_of(-2000.0), 400.0, "ours")
    whole = square("coverage", HOME, 20_000.0, "cover")
    whole.attributes["of"] = "stop yield"
    at_home = map_of(whole, STOP, land, is_covered=False)
    gone = map_of(whole, STOP, is_covered=False)
    mode = {"modes": frozenset({"family_land"})}

    def verdicts(*maps: Nearby, feet: tuple[float, ...]) -> list[Verdict]:
        memory, found = RULE.begin(), []
        for second, (chart, at_ft) in enumerate(zip(maps, feet, strict=True)):
            fix = fix_of(30.0, east_of(at_ft), error_ft=5.0, track_deg=90.0)
            now = seen(at_s=100.0 + second, fix=fix, nearby=chart, **mode)
            memory, finding = RULE.judge(memory, now, CLAUSE)
            found.append(finding.verdict)
        return found

    # 400 ft to each side: on it, within the error of its edge, and off it; then past the sign.
    passing = (-1700.0, -1597.0, -44.0, 44.0)
    exempt, over = Verdict.EXEMPT, Verdict.VIOLATION
    assert verdicts(*[at_home] * 4, feet=passing) == [exempt, exempt, Verdict.APPROACHING, over]
    # Two miles on the map no longer draws it, and it is remembered.
    assert verdicts(*[at_home] * 2, gone, gone, feet=passing)[-1] is over
    # Where no map ever drew it, the rider's word stands.
    assert verdicts(*[gone] * 4, feet=passing) == [exempt] * 4
    # A map that knows all of the family's land, and none of it here, says so too.
    assert verdicts(*[map_of(STOP)] * 4, feet=passing)[-1] is over


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"fix": NO_FIX, "nearby": DRAWN}, "no fix"),
        ({"nearby": NO_MAP}, "no map just now"),
        (
            {"nearby": map_of(radius_m=50.0), "fix": fix_of(30.0, east_of(1000.0))},
            "a map that ends before the sled",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_who_is_not_surely_off_the_land_that_was_drawn_is_still_let_off(
    changes: dict[str, object], what: str
) -> None:
    memory, _ = RULE.judge(RULE.begin(), seen(nearby=DRAWN, modes=ON), CLAUSE)
    assert memory.has_land
    after, finding = RULE.judge(memory, seen(at_s=101.0, modes=ON, **changes), CLAUSE)
    assert finding.verdict is Verdict.EXEMPT, what
    assert after.has_land


@pytest.mark.parametrize(
    ("nearby", "modes", "lifts"),
    [
        (DRAWN, frozenset(), True),
        (DRAWN, frozenset({"race"}), True),
        (DRAWN, ON, False),
        (NO_MAP, ON, True),
    ],
    ids=["mode off", "another mode", "a law that lifts nothing", "no map"],
)
def test_only_land_that_was_drawn_while_the_mode_was_on_is_remembered(
    nearby: Nearby | Missing, modes: frozenset[str], lifts: bool
) -> None:
    clause = CLAUSE if lifts else msgspec.structs.replace(CLAUSE, lifted_by=())
    now = seen(fix=fix_of(30.0, east_of(-300.0)), nearby=nearby, modes=modes)
    assert not RULE.judge(RULE.begin(), now, clause)[0].has_land
