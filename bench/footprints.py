"""A state's buildings, made up: footprints of 4 to 8 corners over Wisconsin's extent, as towns.

`python -m bench.footprints FILE.geojsonl [COUNT] [SEED]` writes them one a line, as the public sets
of footprints come. The same seed gives the same bytes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

COUNT = 3_000_000
SEED = 350
WEST, SOUTH, EAST, NORTH = -92.9, 42.5, -86.8, 47.1
"""Wisconsin's extent in degrees."""

TOWNS = 1_900
IN_TOWNS = 0.85
LOT_M = 30.0
"""Between the middles of neighbours: 1,100 buildings a square kilometre."""

M_PER_DEG = 111_195.0
_HEAD = '{"type":"Feature","properties":{"id":"b%d","height":%.1f},"geometry":{"type":"Polygon",'


def write(path: Path, count: int = COUNT, seed: int = SEED) -> None:
    """Writes the footprints, and nothing else."""
    chance = np.random.default_rng(seed)
    lats, lons = places(count, chance)
    with path.open("w") as file:
        for number, ring in enumerate(_rings(lats, lons, chance)):
            corners = ",".join(f"[{lon:.7f},{lat:.7f}]" for lon, lat in ring)
            file.write(
                _HEAD % (number, 4.0 + number % 40 / 10) + f'"coordinates":[[{corners}]]}}}}\n'
            )


def places(count: int, chance: Any) -> tuple[Any, Any]:
    """The middles of the buildings, degrees north and east: towns on lots, the rest along roads."""
    in_towns = round(count * IN_TOWNS)
    share = 1.0 / np.arange(1, TOWNS + 1)
    sizes = np.floor(share / share.sum() * in_towns).astype(int)
    sizes[0] += in_towns - sizes.sum()
    middles = chance.uniform((SOUTH + 0.2, WEST + 0.2), (NORTH - 0.2, EAST - 0.2), (TOWNS, 2))
    lats, lons = [], []
    for size, (lat, lon) in zip(sizes, middles, strict=True):
        # Lots of a town fill a disc from its middle outwards (Vogel's spiral), each off its place.
        order = np.arange(size) + 0.5
        away_m = LOT_M * np.sqrt(order / math.pi)
        turn = order * math.pi * (3.0 - math.sqrt(5.0))
        off_m = chance.uniform(-3.0, 3.0, (2, size))
        lats.append(lat + (away_m * np.sin(turn) + off_m[0]) / M_PER_DEG)
        wide = M_PER_DEG * math.cos(math.radians(lat))
        lons.append(lon + (away_m * np.cos(turn) + off_m[1]) / wide)
    rural = count - in_towns
    along = chance.uniform((SOUTH, WEST), (NORTH, EAST), (rural // 100 + 1, 2))
    lats.append(np.repeat(along[:, 0], 100)[:rural] + chance.uniform(-2e-4, 2e-4, rural))
    lons.append(np.repeat(along[:, 1], 100)[:rural] + chance.uniform(0.0, 0.15, rural))
    return np.concatenate(lats), np.concatenate(lons)


def _rings(lats: Any, lons: Any, chance: Any) -> Iterator[list[tuple[float, float]]]:
    """A closed ring a building: 60 % of 4 corners, 30 % of 6, 10 % of 8; 8 to 20 m, turned."""
    count = len(lats)
    corners = chance.choice([4, 6, 8], count, p=[0.6, 0.3, 0.1])
    long_m, deep_m = chance.uniform(4.0, 10.0, count), chance.uniform(4.0, 8.0, count)
    turns = chance.uniform(0.0, math.pi / 2, count)
    forms = {
        4: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        6: [(-1, -1), (1, -1), (1, 0.2), (0.1, 0.2), (0.1, 1), (-1, 1)],
        8: [(-1, -1), (1, -1), (1, 1), (0.4, 1), (0.4, 0.3), (-0.4, 0.3), (-0.4, 1), (-1, 1)],
    }
    for lat, lon, kind, wide, deep, turn in zip(
        lats.tolist(), lons.tolist(), corners.tolist(), long_m.tolist(), deep_m.tolist(),
        turns.tolist(), strict=True,
    ):  # fmt: skip
        cos, sin = math.cos(turn) / M_PER_DEG, math.sin(turn) / M_PER_DEG
        parallel = math.cos(math.radians(lat))
        ring = [
            (
                lon + (x * wide * cos - y * deep * sin) / parallel,
                lat + x * wide * sin + y * deep * cos,
            )
            for x, y in forms[kind]
        ]
        yield [*ring, ring[0]]


if __name__ == "__main__":
    write(Path(sys.argv[1]), *(int(word) for word in sys.argv[2:4]))
