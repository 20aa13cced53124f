"""Where the ride went, as vectors: the track by its margin to the limit, over the zones near it.

The only import of shapely here: it thins lines to a stated deviation and clips shapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import shapely

from firmware.findings import Margin
from firmware.maps.plane import Plane
from firmware.readings import Feature
from firmware.units import metres
from host_tools.exports.rows import Line, lines
from host_tools.journals.ride import Exceedance, Leg, Ride
from host_tools.report import words
from host_tools.report.markup import Markup, el, join, short

ASPECTS = (1.4, 2.1)
"""The least and the greatest width over height of a map."""

DESK_PX = 1120.0
PHONE_PX = 350.0
"""How wide the map is drawn on a desk and on a phone: for the size of what has a fixed size."""

PHONE_SHARE = 0.75
"""Marks are smaller on a phone, which is held nearer."""

_APART_M = 5000.0
_LEAST_M = 400.0
_MARGIN = 0.11
_POINTS = 14_000
_TOLERANCES_M = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0, 80.0, 120.0, 200.0)
_NEAR_M = 700.0
_CORNERS = 24_000
_SHOWN = 2_500
_CALM_TO_GRAVE = (
    Margin.FREE,
    Margin.UNKNOWN,
    Margin.FAR,
    Margin.BELOW,
    Margin.NEAR,
    Margin.UNSURE,
    Margin.OVER,
)
_CROWD = 60
"""More marks than this are drawn as dots, which name themselves once they are chosen."""

_QUIET = ("coverage", "territory", "stop", "yield", "speed_sign", "person_area")
_GROUND = ("water", "indian_land", "family_land", "private", "closed", "race_course", "cemetery")
_WAYS = ("road", "trail")
_MILE_M = 1609.344
_BARS: tuple[tuple[float, str], ...] = (
    *((metres(one), f"{one:g} ft") for one in (50.0, 100.0, 200.0, 500.0, 1000.0)),
    *((one * _MILE_M, f"{one:g} mi") for one in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)),
)


@dataclass(slots=True)
class Area:
    """A part of the ride that fits one map; metres from its north-west corner, y down."""

    number: int
    plane: Plane
    west_m: float
    north_m: float
    width_m: float
    height_m: float
    pieces: list[Line] = field(default_factory=list)
    tolerance_m: float = 0.0
    thinned: list[shapely.LineString] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"map{self.number}"

    @property
    def metres_per_px(self) -> float:
        return self.width_m / DESK_PX

    def xy(self, lat_deg: float, lon_deg: float) -> tuple[float, float]:
        x_m, y_m = self.plane.xy(lat_deg, lon_deg)
        return x_m - self.west_m, self.north_m - y_m

    def holds(self, lat_deg: float, lon_deg: float) -> bool:
        x, y = self.xy(lat_deg, lon_deg)
        return 0 <= x <= self.width_m and 0 <= y <= self.height_m

    def style(self) -> str:
        """What has a fixed size on the screen needs to know how many metres a pixel is."""
        return (
            f"#{self.name}{{--k:{self.width_m / DESK_PX:.4g}}}"
            f"@media(max-width:640px){{#{self.name}"
            f"{{--k:{PHONE_SHARE * self.width_m / PHONE_PX:.4g}}}}}"
        )


def areas(ride: Ride) -> list[Area]:
    """The maps that the ride needs: parts that lie far apart have one each."""
    boxes: list[tuple[list[float], list[tuple[Leg, int, int]]]] = []
    for leg in ride.legs:
        for begin, end in leg.stretches():
            lats, lons = leg.track.lat_deg[begin:end], leg.track.lon_deg[begin:end]
            _place_box([min(lats), min(lons), max(lats), max(lons)], (leg, begin, end), boxes)
    found = []
    for number, (box, parts) in enumerate(boxes):
        area = _area(number, box)
        for owner in {id(leg): leg for leg, _, _ in parts}.values():
            spans = [(begin, end) for leg, begin, end in parts if leg is owner]
            area.pieces += [
                line
                for line in lines(owner)
                if any(begin <= line.begin < end for begin, end in spans)
            ]
        found.append(area)
    return found


def _place_box(
    box: list[float],
    part: tuple[Leg, int, int],
    boxes: list[tuple[list[float], list[tuple[Leg, int, int]]]],
) -> None:
    """Puts a stretch on the map it lies near to, and joins the maps that it touches."""
    parts = [part]
    apart_deg = _APART_M / 111_200.0
    wide_deg = apart_deg / max(0.01, math.cos(math.radians(box[0])))
    for other in list(boxes):
        there, held = other
        if (
            box[0] - apart_deg <= there[2]
            and there[0] - apart_deg <= box[2]
            and box[1] - wide_deg <= there[3]
            and there[1] - wide_deg <= box[3]
        ):
            boxes.remove(other)
            parts = held + parts
            box = [*map(min, box[:2], there[:2]), *map(max, box[2:], there[2:])]
    boxes.append((box, parts))


def _area(number: int, box: list[float]) -> Area:
    south, west, north, east = box
    plane = Plane((south + north) / 2, (west + east) / 2)
    (x0, y0), (x1, y1) = plane.xy(south, west), plane.xy(north, east)
    width = max(x1 - x0, _LEAST_M) * (1 + 2 * _MARGIN)
    height = max(y1 - y0, _LEAST_M / ASPECTS[1]) * (1 + 2 * _MARGIN)
    width, height = max(width, height * ASPECTS[0]), max(height, width / ASPECTS[1])
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    return Area(number, plane, middle_x - width / 2, middle_y + height / 2, width, height)


def drawn(area: Area, ride: Ride, exceedances: list[Exceedance]) -> Markup:
    """The map as an SVG: ground, zones, track, marks, scale bar and north."""
    features = {key: one for leg in ride.legs for key, one in leg.features.items()}
    track = _track(area)
    ground, note = _features(area, ride, list(features.values()))
    inner = [
        el("rect", x=0.0, y=0.0, width=area.width_m, height=area.height_m, class_="land"),
        ground,
        track,
        _ends(area),
        el("g", _marks(area, exceedances), class_="crowd" if len(exceedances) > _CROWD else None),
        _bar(area),
        _north(area),
    ]
    picture = el(
        "svg", join(inner), viewBox=f"0 0 {area.width_m:.1f} {area.height_m:.1f}", id=area.name,
        class_="map", role="group", aria_label="Map of the ride", data_w=f"{area.width_m:.1f}",
        data_h=f"{area.height_m:.1f}",
    )  # fmt: skip
    caption = f"The track is drawn to within {_length(area.tolerance_m)}."
    if len(area.thinned) < len([one for one in area.pieces if one.end - one.begin > 1]):
        shortest = _length(float(f"{area.metres_per_px:.2g}"))
        caption += f" A stretch of under {shortest} has the colour of the gravest in it."
    return el(
        "figure", el("div", picture, class_="frame"),
        el("figcaption", caption, " ", note), class_="mapbox",
    )  # fmt: skip


def _length(metres_: float) -> str:
    return f"{metres_:g}{words.NARROW}m ({metres_ / 0.3048:.0f}{words.NARROW}ft)"


def _track(area: Area) -> Markup:
    """The track, a path for each margin, and under them all a rim that parts it from the ground."""
    joined = _joined(area)
    geometry = [shapely.LineString(corners) for corners, _ in joined]
    thinned = geometry
    for tolerance_m in _TOLERANCES_M:
        thinned = list(shapely.simplify(geometry, tolerance_m, preserve_topology=False))
        area.tolerance_m = tolerance_m
        if sum(shapely.get_num_coordinates(thinned)) <= _POINTS:
            break
    area.thinned = thinned
    paths: dict[Margin, str] = dict.fromkeys(_CALM_TO_GRAVE, "")
    for line, (_, margin) in zip(thinned, joined, strict=True):
        paths[margin] += _relative(line.coords)
    held = {margin: text for margin, text in paths.items() if text}
    names = {margin: f"{area.name}-t{margin.value}" for margin in held}
    return el(
        "g",
        el(
            "defs",
            (el("path", d=text, id=names[margin], class_="v") for margin, text in held.items()),
        ),
        (el("use", href=f"#{name}", class_="casing") for name in names.values()),
        (el("use", href=f"#{names[one]}", class_=f"t m{one.value}") for one in held),
        class_="track",
    )


def _joined(area: Area) -> list[tuple[list[tuple[float, float]], Margin]]:
    """The pieces of the track in metres; what is shorter than a pixel is joined with what follows
    it, and is as grave as the gravest in it."""
    found: list[tuple[list[tuple[float, float]], Margin]] = []
    before: Line | None = None
    length_m = area.metres_per_px
    for one in area.pieces:
        if one.end - one.begin < 2:
            continue
        track = one.leg.track
        corners = [area.xy(track.lat_deg[n], track.lon_deg[n]) for n in one.numbers()]
        goes_on = before is not None and before.leg is one.leg and before.end - 1 == one.begin
        if goes_on and length_m < area.metres_per_px:
            held, margin = found.pop()
            gravest = max(margin, one.margin, key=_CALM_TO_GRAVE.index)
            found.append((held + corners[1:], gravest))
        else:
            found.append((corners, one.margin))
            length_m = 0.0
        length_m += sum(math.dist(a, b) for a, b in pairwise(corners))
        before = one
    return found


def _relative(corners: Iterable[Sequence[float]]) -> str:
    """A path in steps of a decimetre, so that small steps are short text and do not add up."""
    said = ""
    before = (0, 0)
    for number, corner in enumerate(corners):
        here = round(corner[0] * 10), round(corner[1] * 10)
        east, north = short((here[0] - before[0]) / 10), short((here[1] - before[1]) / 10)
        said += f"M{east} {north}l" if number == 0 else f"{east} {north} "
        before = here
    return said.rstrip()


def _features(area: Area, ride: Ride, features: list[Feature]) -> tuple[Markup, str]:
    """The ground, the zones about what the law speaks of, and what was left out."""
    reach = {
        kind: (near.reach_m, clause)
        for clause in ride.clauses.values()
        for near in clause.near
        for kind in near.kinds
    }
    frame = (-area.width_m * 0.02, -area.height_m * 0.02,
             area.width_m * 1.02, area.height_m * 1.02)  # fmt: skip
    shapes = [
        (one, shape)
        for one in features
        if one.kind not in _QUIET
        and (shape := _shape(area, one, frame)) is not None
        and not shape.is_empty
    ]
    ridden = shapely.multilinestrings(area.thinned) if area.thinned else shapely.Point(0, 0)
    shapely.prepare(ridden)
    away = shapely.distance(ridden, [shape for _, shape in shapes])
    ranked = sorted(
        (
            0.0 if one.kind in _GROUND or one.kind in _WAYS else float(away_m),
            one.kind,
            one.id,
            number,
        )
        for number, ((one, _), away_m) in enumerate(zip(shapes, away, strict=True))
    )
    chosen: list[tuple[Feature, shapely.Geometry]] = []
    corners = left_out = 0
    for away_m, _, _, number in ranked:
        one, shape = shapes[number]
        corners += int(shapely.get_num_coordinates(shape))
        is_out = corners > _CORNERS or len(chosen) >= _SHOWN
        if is_out or (away_m > max(_NEAR_M, area.width_m / 3)):
            left_out += 1
            continue
        chosen.append((one, shape))
    groups: list[Markup] = []
    for order, kinds in (("ground", _GROUND), ("way", _WAYS)):
        parts = [_drawn(one, shape, order) for one, shape in chosen if one.kind in kinds]
        groups.append(el("g", parts, class_=order))
    for kind, (reach_m, _) in reach.items():
        paths = [_path_of(shape) for one, shape in chosen if one.kind == kind]
        if paths:
            groups.append(el("path", d="".join(paths), class_="zone", stroke_width=2 * reach_m))
    rest = [
        _drawn(one, shape, "thing")
        for one, shape in chosen
        if one.kind not in _GROUND and one.kind not in _WAYS
    ]
    groups.append(el("g", rest))
    note = "North is up."
    if reach and any(one.kind in reach for one, _ in chosen):
        note += " Rings show the reach of a clause about what it protects."
    if left_out:
        note += f" {words.count(left_out, 'thing')} further off left out."
    return join(groups), note


def _shape(
    area: Area, one: Feature, frame: tuple[float, float, float, float]
) -> shapely.Geometry | None:
    """A feature in the map's metres, cut to the frame; None where it has no place here."""
    parts = [[area.xy(lat, lon) for lon, lat in part] for part in one.parts]
    try:
        if one.shape == "point":
            whole: shapely.Geometry = shapely.MultiPoint([part[0] for part in parts])
        elif one.shape == "line":
            whole = shapely.MultiLineString([part for part in parts if len(part) > 1])
        else:
            # Rings are filled by the even-odd rule: each is cut by itself.
            rings = [shapely.LinearRing(part) for part in parts if len(part) > 2]
            whole = shapely.GeometryCollection([shapely.Polygon(ring) for ring in rings])
        return shapely.clip_by_rect(
            shapely.simplify(whole, area.metres_per_px / 3, preserve_topology=False), *frame
        )
    except (shapely.errors.GEOSException, ValueError):
        return None


def _drawn(one: Feature, shape: shapely.Geometry, order: str) -> Markup:
    title = el("title", f"{one.name or one.id} ({one.kind.replace('_', ' ')})")
    kind = one.kind if one.kind.replace("_", "").isalpha() else "other"
    is_point = one.shape == "point"
    return el(
        "path", title, d=_path_of(shape), fill_rule="evenodd",
        class_=f"{order} k-{kind.replace('_', '-')}" + (" dot" if is_point else ""),
    )  # fmt: skip


def _path_of(shape: shapely.Geometry) -> str:
    parts = []
    for one in shapely.get_parts([shape]):
        if one.geom_type == "Point":
            parts.append(f"M{one.x:.1f} {one.y:.1f}h.1")
        elif one.geom_type == "Polygon":
            rings = [one.exterior, *one.interiors]
            parts += [_relative(ring.coords) + "z" for ring in rings if len(ring.coords)]
        elif one.geom_type in ("LineString", "LinearRing"):
            parts.append(_relative(one.coords))
        else:
            parts.append(_path_of(one))
    return "".join(parts)


def _pinned(x: float, y: float, *children: Markup, **attributes: str) -> Markup:
    """What keeps its size in pixels at a place of the map."""
    pinned = el("g", join(children), class_="px")
    return el("g", pinned, transform=f"translate({x:.1f} {y:.1f})", **attributes)


def _ends(area: Area) -> Markup:
    first, last = area.pieces[0], area.pieces[-1]
    parts = []
    for line, number, look in ((first, first.begin, "begin"), (last, last.end - 1, "finish")):
        track = line.leg.track
        x, y = area.xy(track.lat_deg[number], track.lon_deg[number])
        word = "start" if look == "begin" else "end"
        shape = (
            el("circle", r=5.0)
            if look == "begin"
            else el("rect", x=-4.5, y=-4.5, width=9.0, height=9.0)
        )
        text = el("text", word, x=9.0, y=-8.0 if look == "begin" else 16.0)
        parts.append(_pinned(x, y, shape, text, class_=f"terminus {look}"))
    return join(parts)


def _marks(area: Area, exceedances: list[Exceedance]) -> Iterable[Markup]:
    numbered = list(enumerate(exceedances, start=1))
    for number, one in sorted(numbered, key=lambda pair: pair[1].is_violation):
        if one.fix is None:
            continue
        track = one.leg.track
        lat_deg, lon_deg = track.lat_deg[one.fix], track.lon_deg[one.fix]
        if not area.holds(lat_deg, lon_deg):
            continue
        x, y = area.xy(lat_deg, lon_deg)
        look = "violation" if one.is_violation else "unsure"
        link = el(
            "a", el("circle", r=9.5, cy=-17.0), el("path", d="M-4 -9.5L0 0L4 -9.5z"),
            el("text", str(number), y=-13.2), href=f"#row-{number}",
            aria_label=f"Exceedance {number}",
        )  # fmt: skip
        yield _pinned(x, y, link, class_=f"mark {look}", id=f"map-{number}")


def _bar(area: Area) -> Markup:
    """The longest round length that is less than a fifth of the map."""
    length_m, text = next((one for one in reversed(_BARS) if one[0] <= area.width_m / 5), _BARS[0])
    text += (
        f" \N{MIDDLE DOT} {length_m / 1000:.2g}{words.NARROW}km"
        if length_m > 900
        else (f" \N{MIDDLE DOT} {length_m:.0f}{words.NARROW}m")
    )
    x, y = area.width_m * 0.025, area.height_m * 0.95
    return el(
        "g", el("line", x1=x, x2=x + length_m, y1=y, y2=y, class_="barcase"),
        el("line", x1=x, x2=x + length_m, y1=y, y2=y, class_="bar"),
        _pinned(x, y, el("text", text, y=-8.0, class_="bartext")), class_="scalebar",
    )  # fmt: skip


def _north(area: Area) -> Markup:
    arrow = el("path", d="M0 -13L7 8L0 3L-7 8z")
    return _pinned(
        area.width_m * 0.97, area.height_m * 0.08, arrow, el("text", "N", y=21.0), class_="north"
    )
