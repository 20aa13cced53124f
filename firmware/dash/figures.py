"""The figures of the glass: straight strokes with cut corners, as wide open as figures can be.

A speed is read in a blink, and a 6 whose top closes is an 8. A printed font closes at many sizes
when there is no grey; these are built for each size from whole dots, so that every gap that tells
one figure from another is at least two dots wide (one in the smallest), and a long number may be
narrow without being small.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw

SMALLEST = (6, 11)
"""The least width and height in dots at which the strokes are two dots thick and the gaps open."""

# The strokes of each figure, as on a counter: a top, b and c right, d bottom, e and f left,
# g middle. Small letters are whole strokes; t and l are stubs at the top's and bottom's open end.
_STROKES = {
    "0": "abcdef",
    "3": "abcdg",
    "4": "fgbc",
    "5": "afgcd",
    "6": "afedcg",
    "8": "abcdefg",
    "9": "abcdfg",
}


def fit(count: int, width: int, height: int) -> tuple[int, int]:
    """Width and height of a figure so that `count` of them fill a box as well as can be."""
    tall = height
    wide = (width - gap(tall) * (count - 1)) // count
    while tall > SMALLEST[1] and wide < tall * 9 // 20:  # narrower than this is hard to read
        tall -= 1
        wide = (width - gap(tall) * (count - 1)) // count
    return min(wide, tall * 3 // 5), tall


def gap(height: int) -> int:
    """The dots between two figures."""
    return max(2, height // 9)


def weight(width: int, height: int) -> int:
    """How thick the strokes are: bold, and never so bold that a gap closes."""
    return max(2, min(round(height / 5.5), (width - 2) // 3))


@lru_cache(maxsize=128)
def figure(digit: str, width: int, height: int) -> Image.Image:
    """One figure as a mask of just this size."""
    mask = Image.new("1", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    bold = weight(width, height)
    right, low = width - 1, height - 1
    middle = (height - bold) // 2  # the top of the middle stroke
    if digit == "1":
        left = (width - bold + 1) // 2
        pen.rectangle((left, 0, left + bold - 1, low), fill=1)
        reach = min(bold + 1, left)
        pen.polygon(
            [(left, 0), (left - reach, reach), (left - reach, reach + bold // 2), (left, bold)],
            fill=1,
        )
        return mask
    if digit == "7":
        pen.rectangle((0, 0, right, bold - 1), fill=1)
        foot = width // 4
        lean = round(bold * 1.15) - 1
        pen.polygon(
            [(right - lean, bold - 1), (right, bold - 1), (foot + lean, low), (foot, low)], fill=1
        )
        return mask
    if digit == "2":
        stub = _stub(middle, bold)
        pen.rectangle((0, 0, right, bold - 1), fill=1)
        pen.rectangle((0, 0, bold - 1, bold - 1 + stub), fill=1)
        pen.rectangle((right - bold + 1, 0, right, middle), fill=1)
        pen.rectangle((0, low - bold + 1, right, low), fill=1)
        lean = round(bold * 1.3) - 1
        pen.polygon(
            [
                (right - lean, middle),
                (right, middle),
                (lean, low - bold + 1),
                (0, low - bold + 1),
            ],
            fill=1,
        )
        _cut_corners(mask, bold, "ab")
        return mask
    boxes = {
        "a": (0, 0, right, bold - 1),
        "b": (right - bold + 1, 0, right, middle + bold - 1),
        "c": (right - bold + 1, middle, right, low),
        "d": (0, low - bold + 1, right, low),
        "e": (0, middle, bold - 1, low),
        "f": (0, 0, bold - 1, middle + bold - 1),
        "g": (bold if digit == "3" else 0, middle, right, middle + bold - 1),
    }
    for stroke in _STROKES[digit]:
        pen.rectangle(boxes[stroke], fill=1)
    stub = _stub(middle, bold)
    if digit == "3":
        pen.rectangle((0, 0, bold - 1, bold - 1 + stub), fill=1)
    if digit in "359":
        pen.rectangle((0, low - bold + 1 - stub, bold - 1, low), fill=1)
    if digit == "6":
        pen.rectangle((right - bold + 1, 0, right, bold - 1 + stub), fill=1)
    corners = {"4": "", "5": "cd"}.get(digit, "abcd")
    _cut_corners(mask, bold, corners)
    if digit in "38":
        _cut_waist(mask, middle, bold, both=digit == "8")
    return mask


def write(image: Image.Image, x: int, y: int, text: str, size: tuple[int, int], ink: int) -> None:
    """Writes figures of one size from (x, y) to the right."""
    width, height = size
    for digit in text:
        image.paste(ink, (x, y), figure(digit, width, height))
        x += width + gap(height)


def measure(text: str, size: tuple[int, int]) -> int:
    """How many dots wide the figures will be."""
    return len(text) * (size[0] + gap(size[1])) - gap(size[1])


def _stub(middle: int, bold: int) -> int:
    """The length of an open end: a third of its opening at most, so that it stays open."""
    return max(0, min(bold // 2, (middle - bold - 2) // 2))


def _cut_corners(mask: Image.Image, bold: int, corners: str) -> None:
    """Cuts the named corners by half a stroke and more; clockwise, a is the top left."""
    cut = max(1, bold * 3 // 5)
    right, low = mask.width - 1, mask.height - 1
    for y in range(cut):
        for x in range(cut - y):
            for name, at in zip(
                "abcd", ((x, y), (right - x, y), (right - x, low - y), (x, low - y)), strict=True
            ):
                if name in corners:
                    mask.putpixel(at, 0)


def _cut_waist(mask: Image.Image, middle: int, bold: int, *, both: bool) -> None:
    """Cuts a small notch where two bowls meet, or an 8 is a barred 0."""
    deep = max(1, bold // 3)
    centre = middle + bold // 2
    for inward in range(deep):
        for y in range(centre - (deep - 1 - inward), centre + (deep - inward)):
            mask.putpixel((mask.width - 1 - inward, y), 0)
            if both:
                mask.putpixel((inward, y), 0)
