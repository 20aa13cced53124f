"""The unit's public key on the glass: as a QR code that a telephone reads, and its fingerprint.

64 hex digits in capitals are a code of 29 modules (ISO/IEC 18004, version 3, level L: 77 letters at
most). At two dots a module it is 58 dots high, which leaves three of the 64 as its light edge: less
than the standard's four modules, and enough for a reader, which a test proves. Level M would take
33 modules, and so one dot each, which a lens can't tell apart.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from firmware.dash import letters
from firmware.dash.faces import Box

DOTS = 2
EDGE_DOTS = 3
SMALL_EDGE = 2
"""The light edge in modules where a module is one dot: half of a terminal's character."""


def draw(image: Image.Image, key: str, key_print: str) -> Box:
    """Draws the code on the left and the fingerprint beside it; returns the room that is left."""
    code = _code(key, DOTS, EDGE_DOTS)
    image.paste(code, (0, 0))
    left = code.width + 2
    groups = key_print.upper().split("-")
    lines = ["JOURNAL", "KEY", "", "-".join(groups[:2]), "-".join(groups[2:])]
    for at, line in enumerate(lines):
        letters.write(image, left, 2 + at * (letters.HEIGHT + 2), line)
    top = 2 + len(lines) * (letters.HEIGHT + 2)
    return Box(left, top, image.width, image.height)


def small(key: str) -> Image.Image:
    """The code alone, at a dot a module, for a terminal that has not room for the whole glass."""
    return _code(key, 1, SMALL_EDGE)


@lru_cache(maxsize=4)
def _code(key: str, dots: int, edge: int) -> Image.Image:
    """The key's code, its light modules lit, with a lit edge of so many dots."""
    import segno  # noqa: PLC0415  # most starts show no key

    rows = segno.make_qr(key.upper(), error="L", boost_error=False).matrix
    side = len(rows) * dots + 2 * edge
    image = Image.new("1", (side, side + side % 2), 1)
    for down, row in enumerate(rows):
        for across, is_dark in enumerate(row):
            if is_dark:
                x, y = edge + across * dots, edge + down * dots
                image.paste(0, (x, y, x + dots, y + dots))
    return image
