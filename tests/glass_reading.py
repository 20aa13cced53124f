"""Reads the glass back: where on a picture a text stands, in any size, lit or inverse.

The letters are rendered with the glass's own fonts and looked for everywhere, so a test says what
a rider can read, whatever the layout is.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from PIL import Image

from firmware.dash import faces, figures, letters

_PLANE = (144, 270)  # room for the picture and the largest text without wrapping round


def reads(picture: Image.Image, text: str) -> bool:
    """Whether the text stands on the picture, dot for dot with a clear edge of one dot."""
    # Lit is +1 and dark -1, so full agreement with an inverse text is full disagreement.
    ground = np.fft.rfft2(2 * np.pad(dots(picture), 1) - 1, _PLANE)
    for signal, high, wide in _signals(text):
        agreement = np.fft.irfft2(ground * signal, _PLANE)[high - 1 : 66, wide - 1 : 130]
        if np.abs(agreement).max() > high * wide - 0.5:
            return True
    return False


def dots(picture: Image.Image) -> np.ndarray:
    """The picture as rows of 0 and 1."""
    return np.asarray(picture, dtype=np.int32)


def _small(text: str) -> np.ndarray:
    image = Image.new("1", (letters.width(text), letters.HEIGHT))
    letters.write(image, 0, 0, text)
    return dots(image)


def _large(text: str) -> list[np.ndarray]:
    stencils = []
    figure_sizes = {
        figures.fit(max(2, len(text)), w, h) for w in range(24, 128) for h in range(11, 54)
    }
    for size in sorted(figure_sizes) if text.isdecimal() else []:
        image = Image.new("1", (figures.measure(text, size), size[1]))
        figures.write(image, 0, 0, text, size, 1)
        stencils.append(dots(image))
    for size in range(13, 56):
        mask, box = faces._stencil(size, text)
        if box.width <= 128 and box.height <= 64:
            stencils.append(dots(mask.crop((box.left, box.top, box.right, box.bottom))))
    return stencils


@cache
def _signals(text: str) -> list[tuple[np.ndarray, int, int]]:
    """Each size of the text, turned over for a correlation by Fourier transform."""
    signals = []
    for stencil in (_small(text), *_large(text)):
        # An edge of a dot round the letters must be clear, or an I would be found in every T.
        framed = 2 * np.pad(stencil, 1) - 1
        signals.append((np.fft.rfft2(framed[::-1, ::-1], _PLANE), *framed.shape))
    return signals


def holes(mask: Image.Image) -> int:
    """How many grounds a figure encloses: 0 for a 5, 1 for a 6, 2 for an 8."""
    grid = np.pad(dots(mask), 1)
    free = {(int(y), int(x)) for y, x in np.argwhere(grid == 0)}
    grounds = 0
    while free:
        grounds += 1
        todo = [free.pop()]
        while todo:
            y, x = todo.pop()
            for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                if near in free:
                    free.remove(near)
                    todo.append(near)
    return grounds - 1
