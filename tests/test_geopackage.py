"""Geometry blobs: every form that GeoPackage allows, and none that is broken."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import wkt

from firmware.maps.geopackage import decode

HEAD = b"GP\0\x01" + struct.pack("<i", 4326)
RING = "(0 0, 4 0, 4 4, 0 0)"
HOLE = "(1 0.5, 2 0.5, 2 1, 1 0.5)"
AT_RING = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 0.0))
AT_HOLE = ((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.5))


@pytest.mark.parametrize("order", [0, 1], ids=["big end first", "little end first"])
@pytest.mark.parametrize(
    ("text", "shape", "parts"),
    [
        ("POINT (-88 44)", "point", (((-88.0, 44.0),),)),
        ("POINT Z (-88 44 7)", "point", (((-88.0, 44.0),),)),
        ("POINT M (-88 44 7)", "point", (((-88.0, 44.0),),)),
        ("POINT ZM (-88 44 7 8)", "point", (((-88.0, 44.0),),)),
        ("LINESTRING (0 1, 2 3)", "line", (((0.0, 1.0), (2.0, 3.0)),)),
        (f"POLYGON ({RING}, {HOLE})", "polygon", (AT_RING, AT_HOLE)),
        ("MULTIPOINT (0 1, 2 3)", "point", (((0.0, 1.0),), ((2.0, 3.0),))),
        (
            "MULTILINESTRING ((0 1, 2 3), (4 5, 6 7))",
            "line",
            (((0.0, 1.0), (2.0, 3.0)), ((4.0, 5.0), (6.0, 7.0))),
        ),
        (f"MULTIPOLYGON (({RING}, {HOLE}), ({RING}))", "polygon", (AT_RING, AT_HOLE, AT_RING)),
        ("MULTILINESTRING Z ((0 1 9, 2 3 9))", "line", (((0.0, 1.0), (2.0, 3.0)),)),
    ],
)
def test_each_form_is_read(
    text: str, shape: str, parts: tuple[tuple[tuple[float, float], ...], ...], order: int
) -> None:
    geometry = wkt.loads(text)
    wkb = shapely.to_wkb(geometry, byte_order=order, output_dimension=4, flavor="iso")
    assert decode(HEAD + wkb) == (shape, parts)


def test_heights_told_in_gdal_s_older_way_are_passed_over() -> None:
    line = wkt.loads("MULTILINESTRING Z ((0 1 9, 2 3 9))")
    wkb = shapely.to_wkb(line, output_dimension=3, flavor="extended")
    assert wkb[4] == 0x80
    assert decode(HEAD + wkb) == ("line", (((0.0, 1.0), (2.0, 3.0)),))


@pytest.mark.parametrize(("code", "numbers"), [(0, 0), (1, 4), (2, 6), (3, 6), (4, 8)])
def test_each_envelope_is_passed_over(code: int, numbers: int) -> None:
    head = b"GP\0" + bytes([1 | code << 1]) + struct.pack("<i", 4326) + bytes(8 * numbers)
    assert decode(head + shapely.to_wkb(shapely.Point(1, 2))) == ("point", (((1.0, 2.0),),))


def blob(code: int, *counts_and_numbers: int | float, order: int = 1) -> bytes:
    packed = b"".join(
        struct.pack("<I" if isinstance(one, int) else "<d", one) for one in counts_and_numbers
    )
    return HEAD + bytes([order]) + struct.pack("<I", code) + packed


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (b"", "not a GeoPackage geometry"),
        (b"XX" + HEAD[2:], "not a GeoPackage geometry"),
        (b"GP\1\1" + HEAD[4:], "not a GeoPackage geometry"),
        (b"GP\0\x0b" + HEAD[4:], "a geometry of an unknown form"),
        (b"GP\0\x21" + HEAD[4:], "a geometry of an unknown form"),
        (b"GP\0\x11" + HEAD[4:], "an empty geometry"),
        (HEAD, "a geometry that is cut short"),
        (blob(1, 1.0), "a geometry that is cut short"),
        (blob(1, 1.0, 2.0) + b"x", "1 bytes left over after the geometry"),
        (blob(1, 1.0, 2.0, order=2), "a byte order of 2"),
        (blob(2, 4_000_000_000), "a geometry that is cut short"),
        (blob(2, 1, 1.0, 2.0), "a line with a part of 1 corners"),
        (blob(3, 0), "an empty geometry"),
        (blob(3, 1, 3, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0), "a polygon with a part of 3 corners"),
        (blob(3, 1, 4, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0), "a ring that does not close"),
        (blob(1, float("nan"), 1.0), "a corner that is not a number"),
        (blob(1, 0.0, float("inf")), "a corner that is not a number"),
        (blob(1, 700_000.0, 300_000.0), "a corner that is not on the globe in degrees"),
        (blob(1, 0.0, 90.01), "a corner that is not on the globe in degrees"),
        (blob(7, 0), "a geometry of type 7; points, lines and polygons are read"),
        (blob(10, 0), "a geometry of type 10; points, lines and polygons are read"),
        (blob(9001, 1.0, 2.0), "a geometry of type 9001"),
        (blob(4, 0), "an empty geometry"),
        (blob(4, 1) + blob(2, 0)[8:], "a geometry of type 2 inside one of type 4"),
        (blob(6, 4_000_000_000), "a geometry that is cut short"),
    ],
)
def test_a_broken_blob_is_refused_with_its_reason(broken: bytes, what: str) -> None:
    with pytest.raises(ValueError) as fault:
        decode(broken)
    assert str(fault.value) == what


WHOLE = [
    HEAD + shapely.to_wkb(wkt.loads(text), flavor="iso", output_dimension=4)
    for text in (
        "POINT (-88 44)",
        "LINESTRING Z (0 1 5, 2 3 5, 4 4 5)",
        f"MULTIPOLYGON (({RING}, {HOLE}), ({RING}))",
    )
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(WHOLE), st.integers(0, 400), st.binary(min_size=1, max_size=8), st.data())
def test_a_changed_blob_is_refused_or_read_and_nothing_else(
    whole: bytes, at: int, rubbish: bytes, more: st.DataObject
) -> None:
    at %= len(whole)
    changed = whole[:at] + rubbish + whole[at + len(rubbish) :]
    changed = changed[: more.draw(st.integers(0, len(changed)))]
    try:
        shape, parts = decode(changed)
    except ValueError:
        return
    assert shape in ("point", "line", "polygon")
    assert all(-180 <= lon <= 180 and -90 <= lat <= 90 for part in parts for lon, lat in part)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda blob: blob,
        lambda blob: blob[:-8],
        lambda blob: blob + b"\0",
        lambda blob: blob[:25] + struct.pack("<d", math.nan) + blob[33:],
        lambda blob: blob[:25] + struct.pack("<d", 181.0) + blob[33:],
        lambda blob: blob[:25] + struct.pack("<d", -88.5) + blob[33:],
        lambda blob: blob[:17],
        lambda blob: blob[:17] + struct.pack("<I", 3) + blob[21 : 21 + 4 + 48],
    ],
)
def test_one_plain_ring_is_read_as_the_walk_reads_it(spoil: Callable[[bytes], bytes]) -> None:
    wkb = shapely.to_wkb(shapely.box(-88.0, 44.0, -87.0, 45.0), byte_order=1)
    plain = spoil(b"GP\0\x01" + struct.pack("<i", 4326) + wkb)
    # The same with an envelope, which takes the longer way.
    walked = b"GP\0\x03" + plain[4:8] + bytes(32) + plain[8:]
    told = []
    for blob in (plain, walked):
        try:
            told.append(decode(blob))
        except ValueError as fault:
            told.append(str(fault))
    assert told[0] == told[1]
