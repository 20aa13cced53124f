"""The large letters and figures of the glass: Pillow's own font, made to be read at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the glass, its right and bottom edges outside of it."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


def number(image: Image.Image, value: int, box: Box, ink: int) -> None:
    """Writes a number as large as its count of digits allows; its units never change place."""
    text = str(value)
    widest = "8" * max(2, len(text))
    face = _fit(widest, box.width, box.height)
    right = box.right - (box.width - face.measure(widest)) // 2
    face.write(image, text, right, box.top + (box.height + face.cap_height) // 2, ink)


def lettering(image: Image.Image, lines: Sequence[str], box: Box, ink: int) -> None:
    """Writes lines centred in a box, all in the largest size that fits them all."""
    gap = 3
    each = (box.height - gap * (len(lines) - 1)) // len(lines)
    face = min((_fit(line, box.width, each) for line in lines), key=lambda one: one.size)
    tall = face.cap_height
    y = box.top + (box.height - tall * len(lines) - gap * (len(lines) - 1)) // 2 + tall
    for line in lines:
        spare = box.width - face.measure(line)
        face.write(image, line, box.right - spare // 2, y, ink)
        y += tall + gap


@dataclass(frozen=True, slots=True)
class _Face:
    """Pillow's own font at one size, made bold and spaced so that a 5 never closes to a 6.

    Without grey a thin stroke breaks and a thick one fills its own gaps, so small letters are
    struck twice sideways, middle ones also downwards, and only large ones get an outline.
    """

    font: ImageFont.FreeTypeFont
    size: int

    @property
    def stroke(self) -> int:
        return 0 if self.size < 44 else 1

    @property
    def strikes(self) -> tuple[tuple[int, int], ...]:
        if self.size < 20:
            return ((0, 0), (1, 0))
        return ((0, 0),) if 44 <= self.size < 60 else ((0, 0), (1, 0), (0, 1), (1, 1))

    @property
    def cap_height(self) -> int:
        return self._cut("H0")[1].height

    def measure(self, text: str) -> int:
        """The dots from the first to the last column that the text lights."""
        return self._cut(text)[1].width

    def write(self, image: Image.Image, text: str, right: int, bottom: int, ink: int) -> None:
        """Writes the text so that its last lit column ends at `right`, its capitals at `bottom`."""
        stencil, box = self._cut(text)
        low = self._cut("H0")[1].bottom
        image.paste(ink, (right - box.right, bottom - low), stencil)

    def _cut(self, text: str) -> tuple[Image.Image, Box]:
        return _stencil(self, text)


@lru_cache(maxsize=256)
def _stencil(face: _Face, text: str) -> tuple[Image.Image, Box]:
    """The text as a mask, and the box of its lit dots in it."""
    room = (len(text) + 1) * (face.size + 2), 2 * face.size
    mask = Image.new("1", room, 0)
    pen = ImageDraw.Draw(mask)
    pen.fontmode = "1"
    x = face.size // 2
    for letter in text:
        for right, down in face.strikes:
            at = (x + right, face.size // 4 + down)
            pen.text(at, letter, font=face.font, fill=1, stroke_width=face.stroke)
        x += round(face.font.getlength(letter)) + 1
    return mask, Box(*(mask.getbbox() or (0, 0, 0, 0)))


@lru_cache(maxsize=256)
def _fit(text: str, width: int, height: int) -> _Face:
    """The largest face in which the text is no wider and no taller than this."""
    small, large = 7, 96
    while small < large:
        size = (small + large + 1) // 2
        face = _face(size)
        if face.measure(text) <= width and face.cap_height <= height:
            small = size
        else:
            large = size - 1
    return _face(small)


@lru_cache(maxsize=96)
def _face(size: int) -> _Face:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise TypeError(
            "Pillow was built without FreeType: install a wheel of Pillow 10.1 or newer"
        )
    return _Face(font, size)
