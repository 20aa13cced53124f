"""What lies near, as it stands in the journal: what came and what stayed, its corners in steps.

A town's map is read anew each few hundred metres, and most of what it shows was shown before. So a
reading tells in full what the one before it in its segment did not show, and of the rest only which
of that one's it was. Corners are whole steps of 1e-7 degrees, each from the one before, where the
map is on that grain, as it is on a unit; else they are degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Literal

import msgspec

from firmware.grain import PLACE_DIGITS
from firmware.readings import Feature, Surroundings

STEPS_PER_DEG = 10.0**PLACE_DIGITS

MOST_FEATURES = 200_000
"""More than lie around any place: a reading that would show more is refused."""

MOST_SHOWN = 4_000_000
"""Once the readings of a segment have shown so many, the next tell all in full: what is read takes
no more time than its bytes are worth. An hour in a town shows less than a third of that."""

Shape = Literal["point", "line", "polygon"]
Part = tuple[tuple[float, float], ...]


class FeatureText(msgspec.Struct, omit_defaults=True):
    """A feature; or, with `count`, so many of the reading before, from its number `first` on, the
    first of which is 0."""

    kind: str = ""
    id: str = ""
    name: str = ""
    shape: Shape = "polygon"
    corners: list[list[int]] = []
    parts: tuple[Part, ...] = ()
    attributes: dict[str, str] = {}
    first: int = 0
    count: int = 0


class SurroundingsText(msgspec.Struct, omit_defaults=True):
    """A reading's value as it is written."""

    lat_deg: float
    lon_deg: float
    radius_m: float
    features: list[FeatureText]
    packs: tuple[str, ...] = ()
    dated: tuple[str, ...] = ()


def written(around: Surroundings, before: Sequence[Feature]) -> SurroundingsText:
    """What is written of a reading; `before` is what the last one in the same segment showed."""
    places = {(one.kind, one.id): place for place, one in enumerate(before)}
    texts: list[FeatureText] = []
    for feature in around.features:
        place = places.pop((feature.kind, feature.id), None)  # so that none is shown twice
        last = texts[-1] if texts else None
        if place is None or before[place] != feature:
            texts.append(_in_full(feature))
        elif last is not None and last.count and last.first + last.count == place:
            last.count += 1
        else:
            texts.append(FeatureText(first=place, count=1))
    return SurroundingsText(
        around.lat_deg, around.lon_deg, around.radius_m, texts, around.packs, around.dated
    )


def read(text: SurroundingsText, before: Sequence[Feature]) -> Surroundings:
    """The reading's value; raises ValueError where it shows what was not there, too much, or one
    of those before it twice."""
    features: list[Feature] = []
    again: list[tuple[int, int]] = []
    for one in text.features:
        if one.count:
            end = one.first + one.count
            if not 0 <= one.first < end <= len(before):
                raise ValueError(f"features {one.first} to {end} of {len(before)} before it")
            again.append((one.first, end))
            features += before[one.first : end]
        else:
            parts = tuple(_degrees(part) for part in one.corners) if one.corners else one.parts
            features.append(Feature(one.kind, one.id, one.name, one.shape, parts, one.attributes))
        if len(features) > MOST_FEATURES:
            raise ValueError(f"more than {MOST_FEATURES:,} features")
    again.sort()
    for (_, end), (first, _) in pairwise(again):
        if first < end:
            raise ValueError(f"feature {first} of those before it twice")
    return Surroundings(
        text.lat_deg, text.lon_deg, text.radius_m, tuple(features), text.packs, text.dated
    )


def _in_full(feature: Feature) -> FeatureText:
    told = FeatureText(
        feature.kind, feature.id, feature.name, feature.shape, attributes=feature.attributes
    )
    steps = [_steps(part) for part in feature.parts]
    whole = [one for one in steps if one is not None]
    if len(whole) == len(steps):
        told.corners = whole
    else:
        told.parts = feature.parts
    return told


def _steps(part: Part) -> list[int] | None:
    """The corners of a part in steps, the first from 0 and each from the one before; None where
    they lie between two steps, or nowhere."""
    degrees = list(chain.from_iterable(part))
    try:
        at = [round(one * STEPS_PER_DEG) for one in degrees]
    except (ValueError, OverflowError):  # not finite
        return None
    if [one / STEPS_PER_DEG for one in at] != degrees:
        return None
    return [*at[:2], *(now - before for now, before in zip(at[2:], at, strict=False))]


def _degrees(steps: Sequence[int]) -> Part:
    lon = lat = 0
    corners = []
    for east, north in zip(steps[::2], steps[1::2], strict=True):
        lon, lat = lon + east, lat + north
        corners.append((lon / STEPS_PER_DEG, lat / STEPS_PER_DEG))
    return tuple(corners)
