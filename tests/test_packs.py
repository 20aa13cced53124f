"""Zone packs on the unit: several at once, the date line and the poles, towns, what is broken."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
import shapely
from judging import clause_of, configured, east_of, fix_of, map_of, seen
from packing import opened, pack_of, row
from pyproj import Geod
from shapely.geometry.base import BaseGeometry

from firmware.clock import ManualClock
from firmware.errors import ZoneError
from firmware.findings import Finding, Verdict
from firmware.maps.packs import (
    ENOUGH,
    LEAST_M,
    Pack,
    again_m,
    age_days,
    surroundings,
)
from firmware.maps.zones import Near, Nearby
from firmware.readings import Feature, Reading, Surroundings
from firmware.rules.zone_speed import ZoneSpeed
from firmware.sources.surroundings import SurroundingsSource
from host_tools.packs import build as packs

WGS84 = Geod(ellps="WGS84")
HERE = (44.0, -88.0)
A_KM = 1.0 / 111.2


def house(lat: float, lon: float, side_deg: float = 1e-4) -> BaseGeometry:
    return shapely.box(lon, lat, lon + side_deg, lat + side_deg)


def nearest_of(pack: Pack, place: tuple[float, float]) -> Near | None:
    return Nearby(surroundings([pack], *place)).nearest(["water"], place)


def ids(around: Surroundings) -> list[str]:
    return sorted(feature.id for feature in around.features)


# Several packs at once.


def test_a_later_pack_holds_wherever_it_puts_a_feature(tmp_path: Path) -> None:
    state = pack_of(tmp_path / "state.gpkg", row("dwelling", "1", house(*HERE)))
    # The same house, drawn anew 90 km off: it is no longer here.
    club = pack_of(tmp_path / "club.gpkg", row("dwelling", "1", house(44.8, -88.0)))
    with opened(state, club) as (first, second):
        assert ids(surroundings([first], *HERE)) == ["1"]
        assert ids(surroundings([first, second], *HERE)) == []
        assert ids(surroundings([first, second], 44.8, -88.0)) == ["1"]
        # The other way round the state's word is the later one.
        assert ids(surroundings([second, first], *HERE)) == ["1"]


def test_a_later_pack_strikes_by_kind_and_id_and_needs_no_shape_for_it(tmp_path: Path) -> None:
    state = pack_of(
        tmp_path / "state.gpkg",
        row("dwelling", "1", house(*HERE)),
        row("dwelling", "2", house(44.001, -88.0)),
        row("shanty", "1", shapely.Point(-88.0, 44.002)),
    )
    club = pack_of(
        tmp_path / "club.gpkg",
        row("dwelling", "1", None, confidence="struck", source="club", name="burnt down"),
        row("dwelling", "2", house(44.001, -88.0), confidence="struck"),
    )
    organizer = pack_of(tmp_path / "race.gpkg", row("dwelling", "2", house(44.0015, -88.0)))
    with opened(state, club, organizer) as three:
        found = surroundings(three[:2], *HERE)
        assert [(one.kind, one.id) for one in found.features] == [("shanty", "1")]
        # What one strikes a later one may bring again.
        again = surroundings(three, *HERE)
        assert sorted((one.kind, one.id) for one in again.features) == [
            ("dwelling", "2"),
            ("shanty", "1"),
        ]
        assert surroundings([three[1]], *HERE).features == ()


def test_a_strike_without_an_id_or_a_shape_without_a_strike_is_refused() -> None:
    with pytest.raises(ValueError, match="must have the `id` of the feature that it takes away"):
        packs.row("a", 0, None, {"kind": "dwelling", "confidence": "struck"})
    with pytest.raises(ValueError, match="has no geometry"):
        packs.row("a", 0, None, {"kind": "dwelling", "id": "1"})


def test_a_pack_without_the_index_of_ids_overrides_what_is_near(tmp_path: Path) -> None:
    state = pack_of(tmp_path / "state.gpkg", row("dwelling", "1", house(*HERE)))
    club = pack_of(tmp_path / "club.gpkg", row("dwelling", "1", house(44.001, -88.0)))
    with closing(sqlite3.connect(club)) as edited, edited:
        edited.execute("DROP INDEX features_kind_id")
    with opened(state, club) as both:
        (found,) = surroundings(both, *HERE).features
    assert found.parts[0][0][1] == 44.001


# The date line and the poles.


def test_a_lake_over_the_date_line_is_one_lake(tmp_path: Path) -> None:
    # As some draw it (one ring, the short way over the line) and as RFC 7946 asks (two parts).
    ring = shapely.Polygon([(179.99, 44.0), (-179.99, 44.0), (-179.99, 44.01), (179.99, 44.01)])
    cut = shapely.MultiPolygon(
        [shapely.box(179.99, 44.0, 180.0, 44.01), shapely.box(-180.0, 44.0, -179.99, 44.01)]
    )
    for shape in (ring, cut):
        path = pack_of(tmp_path / "line.gpkg", row("water", "1", shape))
        with closing(Pack(path)) as pack:
            for place in ((44.005, 179.995), (44.005, -179.995), (44.005, 180.0)):
                near = nearest_of(pack, place)
                assert near is not None, place
                assert near.distance_m == 0.0, place
                # To its shores, north and south: the line that the map is cut at is none.
                to_east_m = WGS84.inv(place[1], 44.005, math.copysign(179.99, -place[1]), 44.005)[2]
                to_west_m = WGS84.inv(place[1], 44.005, math.copysign(179.99, place[1]), 44.005)[2]
                to_north_m = WGS84.inv(180.0, 44.005, 180.0, 44.01)[2]
                true_m = min(to_east_m, to_west_m, to_north_m)  # 401 m, or 556 m at the line
                assert near.depth_m == pytest.approx(true_m, rel=0.002), place
            near = nearest_of(pack, (44.005, 179.98))
            assert near is not None
            true_m = WGS84.inv(179.98, 44.005, 179.99, 44.005)[2]
            assert near.distance_m == pytest.approx(true_m, rel=0.002)
            assert nearest_of(pack, (44.005, 0.0)) is None


def test_a_ring_around_a_pole_is_refused_and_a_cap_with_corners_there_is_right(
    tmp_path: Path,
) -> None:
    around = shapely.Polygon([(-120, 89.9), (0, 89.9), (120, 89.9)])
    with pytest.raises(ValueError, match="goes around a pole: cut it at the date line"):
        row("water", "1", around)
    cap = shapely.Polygon([(-180, 89.9), (180, 89.9), (180, 90), (-180, 90)])
    path = pack_of(tmp_path / "pole.gpkg", row("water", "1", cap))
    with closing(Pack(path)) as pack:
        near = nearest_of(pack, (89.95, 17.0))
        assert near is not None
        assert near.distance_m == 0.0
        assert nearest_of(pack, (89.0, 17.0)) is None


@pytest.mark.parametrize(
    "place", [(90.0, 0.0), (-90.0, 180.0), (0.0, 0.0), (44.0, 180.0), (44.0, -180.0), (-89.999, 1)]
)
def test_any_place_on_the_globe_has_an_answer(tmp_path: Path, place: tuple[float, float]) -> None:
    path = pack_of(
        tmp_path / "a.gpkg",
        row("coverage", "all", shapely.box(-180, -90, 180, 90)),
        row("water", "big", shapely.Point(-88.0, 44.0).buffer(0.2, quad_segs=500)),
        row("shanty", "1", shapely.Point(place[1], place[0])),
    )
    with closing(Pack(path)) as pack:
        around = surroundings([pack], *place, at_most=ENOUGH)
    assert {one.kind for one in around.features} == {"coverage", "shanty"}
    assert Nearby(around).is_covered(*place)


# Towns.


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4,900 houses on lots of 30 m, around HERE: 1,111 a square kilometre."""
    lot = 30.0 / 111_195.0
    wide = lot / math.cos(math.radians(44.0))
    rows = [
        row("dwelling", f"{x}-{y}", house(44.0 + y * lot, -88.0 + x * wide, lot / 3))
        for x in range(-35, 35)
        for y in range(-35, 35)
    ]
    rows.append(row("coverage", "town", shapely.box(-89, 43, -87, 45)))
    return pack_of(tmp_path_factory.mktemp("town") / "town.gpkg", *rows)


def test_in_a_town_it_is_looked_less_far_and_the_reading_says_so(town: Path) -> None:
    with closing(Pack(town)) as pack:
        whole = surroundings([pack], *HERE)
        bounded = surroundings([pack], *HERE, at_most=ENOUGH)
    assert (whole.radius_m, len(whole.features)) == (2000.0, 4901)
    # 1,111 a square kilometre in a circle of 800 m are 2,234: never less far than that.
    assert bounded.radius_m == LEAST_M == 800.0
    assert len(bounded.features) == pytest.approx(2234, rel=0.05)
    assert again_m(whole) == 1000.0
    assert again_m(bounded) == pytest.approx(142.9, abs=0.1)  # 1000 * (800 - 600) / (2000 - 600)
    assert Nearby(bounded).reaches(*HERE, 600.0)
    # Everything that is near is in it.
    near = {one.id for one in bounded.features}
    for one in whole.features:
        if one.kind == "dwelling" and one.id not in near:
            lon, lat = one.parts[0][0]
            assert WGS84.inv(HERE[1], HERE[0], lon, lat)[2] > 780.0


def test_outside_the_town_it_is_looked_as_far_as_the_houses_fill(town: Path) -> None:
    place = (44.0 + 1.9 * A_KM, -88.0)
    with closing(Pack(town)) as pack:
        around = surroundings([pack], *place, at_most=ENOUGH)
    assert 1000.0 < around.radius_m < 2000.0
    assert len(around.features) == pytest.approx(ENOUGH, abs=60)


def test_the_thread_asks_again_sooner_in_a_town(town: Path) -> None:
    posted: SimpleQueue[Reading] = SimpleQueue()
    source = SurroundingsSource([town], ManualClock())
    source.start(posted.put)
    try:
        source.look(*HERE)
        first = posted.get(timeout=60.0).value
        assert isinstance(first, Surroundings)
        source.look(44.0 + 0.14 * A_KM, -88.0)
        with pytest.raises(Empty):
            posted.get(timeout=0.05)
        source.look(44.0 + 0.15 * A_KM, -88.0)
        second = posted.get(timeout=60.0).value
        assert isinstance(second, Surroundings)
        assert second.lat_deg > first.lat_deg
        # The judging thread takes the map that was made ready for the reading, and makes another's.
        assert source.chart(second) is source.chart(second)
        assert source.chart(first) is not source.chart(first)
        assert source.chart(first).surroundings is first
    finally:
        source.stop()


# What is only possibly a dwelling.


def judged(*features: Feature) -> Finding:
    """100 ft off home at 30 mph, at night."""
    rule = ZoneSpeed(configured())
    fix = fix_of(30.0, east_of(100.0))
    now = seen(fix=fix, nearby=map_of(*features))
    return rule.judge(rule.begin(), now, clause_of("350.10(1)(g)"))[1]


def at_home(ident: str, feet: float = 0.0, **attributes: str) -> Feature:
    lat, lon = east_of(feet)
    return Feature("dwelling", ident, "", "point", (((lon, lat),),), attributes)


def test_what_is_possibly_a_dwelling_warns_and_accuses_nobody() -> None:
    assert judged(at_home("1")).verdict is Verdict.VIOLATION
    finding = judged(at_home("1", confidence="possible"))
    assert finding.verdict is Verdict.UNSURE
    assert "possible dwelling 100 ft away" in finding.why


def test_a_possible_dwelling_does_not_hide_one_that_surely_is_near() -> None:
    nearer = at_home("shed", 90.0, confidence="possible")
    assert judged(at_home("1"), nearer).verdict is Verdict.VIOLATION
    assert judged(nearer).verdict is Verdict.UNSURE


def test_a_pack_hands_the_rules_that_a_feature_is_only_possible(tmp_path: Path) -> None:
    path = pack_of(
        tmp_path / "a.gpkg",
        row("dwelling", "1", house(*HERE), confidence="possible"),
        row("dwelling", "2", house(*HERE), confidence="0.8"),
    )
    with closing(Pack(path)) as pack:
        found = {one.id: one.is_possible for one in pack.around(*HERE, 100.0)}
    assert found == {"1": True, "2": False}


# Age.


def test_an_age_counts_from_the_first_day_that_a_date_may_mean() -> None:
    assert age_days("2026-11-30", date(2026, 11, 30)) == 0
    assert age_days("2025-11", date(2026, 11, 30)) == 394
    assert age_days("2025", date(2026, 1, 1)) == 365
    assert age_days("", date(2026, 1, 1)) is None
    assert age_days("winter", date(2026, 1, 1)) is None


def test_a_pack_is_as_old_as_what_it_calls_covered(tmp_path: Path) -> None:
    area = shapely.box(-89, 43, -87, 45)
    path = pack_of(
        tmp_path / "a.gpkg",
        row("coverage", "north", area, dated="2024-06-01"),
        row("coverage", "south", area, dated="2026-06-01"),
        row("stop", "1", shapely.Point(-88, 44), dated="2026-11-01"),
    )
    with closing(Pack(path)) as pack:
        assert pack.dated == "2024-06-01"
    path = pack_of(tmp_path / "b.gpkg", row("stop", "1", shapely.Point(-88, 44), dated="2026-11"))
    with closing(Pack(path)) as pack:
        assert pack.dated == "2026-11"
    path = pack_of(tmp_path / "c.gpkg", row("stop", "1", shapely.Point(-88, 44)))
    with closing(Pack(path)) as pack:
        assert pack.dated == ""


# What is broken.


def test_a_pack_that_is_cut_in_its_middle_while_it_is_read_is_one_sentence(
    tmp_path: Path, town: Path
) -> None:
    whole = town.read_bytes()
    path = tmp_path / "cut.gpkg"
    path.write_bytes(whole)
    with closing(Pack(path)) as pack:
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ZoneError) as fault:
            for _ in range(3):
                surroundings([pack], *HERE)
    assert str(fault.value).startswith(f"{path}: ")


def test_an_index_that_names_what_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    path = pack_of(tmp_path / "a.gpkg", row("dwelling", "1", house(*HERE)))
    with closing(sqlite3.connect(path)) as edited, edited:
        edited.execute("DROP TRIGGER rtree_features_geom_delete")
        edited.execute("DELETE FROM features")
    with closing(Pack(path)) as pack, pytest.raises(ZoneError, match="feature 1: is not there"):
        surroundings([pack], *HERE)
