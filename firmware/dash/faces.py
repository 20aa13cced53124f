"""The large letters and figures of the glass: Pillow's own font, made to be read at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from firmware.dash import figures, letters

_CLEAR_SIZE = 13
_SMALLEST, _LARGEST = 7, 96
_FINE = 4  # how many times as large a letter is drawn before it becomes dots


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
    size = figures.fit(max(2, len(text)), box.width, box.height)
    if size[0] < figures.SMALLEST[0] or size[1] < figures.SMALLEST[1]:
        _dots(image, text, box, box.top + (box.height - letters.HEIGHT) // 2, ink)
        return
    spare = box.width - figures.measure("8" * max(2, len(text)), size)
    x = box.right - spare // 2 - figures.measure(text, size)
    figures.write(image, x, box.top + (box.height - size[1]) // 2, text, size, ink)


def lettering(image: Image.Image, lines: Sequence[str], box: Box, ink: int) -> None:
    """Writes lines centred in a box, all in the largest size that fits them all.

    Where that is very small, the letters made of dots are the clearer ones.
    """
    gap = 3
    each = (box.height - gap * (len(lines) - 1)) // len(lines)
    face = min((_fit(line, box.width, each) for line in lines), key=lambda one: one.size)
    is_small = face.size < _CLEAR_SIZE
    tall = letters.HEIGHT if is_small else face.cap_height
    y = box.top + (box.height - tall * len(lines) - gap * (len(lines) - 1)) // 2
    for line in lines:
        if is_small:
            _dots(image, line, box, y, ink)
        else:
            spare = box.width - face.measure(line)
            face.write(image, line, box.right - spare // 2, y + tall, ink)
        y += tall + gap


def _dots(image: Image.Image, text: str, box: Box, y: int, ink: int) -> None:
    letters.write(image, box.left + (box.width - letters.width(text)) // 2, y, text, ink)


@dataclass(frozen=True, slots=True)
class _Face:
    """Pillow's own font at one size, bold and a little spaced; its figures are `figures`.

    It is drawn large and made small dot by dot: drawn at its size, without grey, a thin stroke
    breaks and a bold one fills its own gaps.
    """

    size: int

    @property
    def cap_height(self) -> int:
        return self._cut("H")[1].height

    def measure(self, text: str) -> int:
        """The dots from the first to the last column that the text lights."""
        return self._cut(text)[1].width

    def fits(self, text: str, width: int, height: int) -> bool:
        """Whether the text is no wider and no taller than this."""
        return self.measure(text) <= width and self.cap_height <= height

    def write(self, image: Image.Image, text: str, right: int, bottom: int, ink: int) -> None:
        """Writes the text so that its last lit column ends at `right`, its capitals at `bottom`."""
        stencil, box = self._cut(text)
        low = self._cut("H")[1].bottom
        image.paste(ink, (right - box.right, bottom - low), stencil)

    def _cut(self, text: str) -> tuple[Image.Image, Box]:
        return _stencil(self.size, text)


@lru_cache(maxsize=512)
def _stencil(size: int, text: str) -> tuple[Image.Image, Box]:
    """The text as a mask, and the box of its lit dots in it."""
    font = _font(size * _FINE)
    weight = max(1, round(size * _FINE / 45))
    mask = Image.new("L", ((len(text) + 1) * (size + 2) * _FINE, 2 * size * _FINE), 0)
    pen = ImageDraw.Draw(mask)
    numerals: list[tuple[int, str]] = []
    x = size // 2
    for letter in text:
        if letter in "0123456789":
            numerals.append((x + 1, letter))
        else:
            at = (x * _FINE, size * 3 // 2 * _FINE)
            pen.text(at, letter, font=font, fill=255, stroke_width=weight, anchor="ls")
        x += _advance(size, letter)
    small = mask.resize((mask.width // _FINE, mask.height // _FINE), Image.Resampling.BOX)
    dots = small.point([0] * 128 + [255] * 128).convert("1")
    if numerals:
        capital = _stencil(size, "H")[1]
        for left, numeral in numerals:
            figures.write(dots, left, capital.top, numeral, _numeral(size), 1)
    return dots, Box(*(dots.getbbox() or (0, 0, 0, 0)))


def _numeral(size: int) -> tuple[int, int]:
    """Width and height of a figure among letters of this size."""
    tall = _stencil(size, "H")[1].height
    return tall * 11 // 20, tall


@lru_cache(maxsize=256)
def _fit(text: str, width: int, height: int) -> _Face:
    """The largest face in which the text is no wider and no taller than this."""
    # The advances of one size tell nearly which size fits; what it lights tells it surely.
    guess = min(width * 40 // max(1, sum(_advance(40, one) for one in text)), height * 4 // 3)
    face = _Face(max(_SMALLEST, min(guess, _LARGEST)))
    while face.size < _LARGEST and _Face(face.size + 1).fits(text, width, height):
        face = _Face(face.size + 1)
    while face.size > _SMALLEST and not face.fits(text, width, height):
        face = _Face(face.size - 1)
    return face


def _advance(size: int, letter: str) -> int:
    """From the start of a letter to the start of the next one, in dots."""
    if letter in "0123456789":
        width, height = _numeral(size)
        return width + figures.gap(height)
    return round(_font(size * _FINE).getlength(letter) / _FINE) + 1


@lru_cache(maxsize=96)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise TypeError(
            "Pillow was built without FreeType: install a wheel of Pillow 10.1 or newer"
        )
    return font
