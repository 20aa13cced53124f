"""The small letters of the glass: five by seven dots, each dot placed by hand.

An outline font at this size loses strokes to the grid of a display that knows no grey. What needs
more than one glance has no business being smaller than this.
"""

from __future__ import annotations

import unicodedata

from PIL import Image

HEIGHT = 7
GAP = 1
SPACE = 2

_SHEET = """
ABCDEFGHIJKLM
.###. ####. .###. ####. ##### ##### .###. #...# ### ..### #..#. #.... #...#
#...# #...# #...# #...# #.... #.... #...# #...# .#. ...#. #.#.. #.... ##.##
#...# #...# #.... #...# #.... #.... #.... #...# .#. ...#. ##... #.... #.#.#
##### ####. #.... #...# ####. ####. #.### ##### .#. ...#. ##... #.... #.#.#
#...# #...# #.... #...# #.... #.... #...# #...# .#. ...#. #.#.. #.... #...#
#...# #...# #...# #...# #.... #.... #...# #...# .#. #..#. #..#. #.... #...#
#...# ####. .###. ####. ##### #.... .###. #...# ### .##.. #...# ##### #...#

NOPQRSTUVWXYZ
#...# .###. ####. .###. ####. .#### ##### #...# #...# #...# #...# #...# #####
##..# #...# #...# #...# #...# #.... ..#.. #...# #...# #...# #...# #...# ....#
##..# #...# #...# #...# #...# #.... ..#.. #...# #...# #...# .#.#. .#.#. ...#.
#.#.# #...# ####. #...# ####. .###. ..#.. #...# #...# #.#.# ..#.. ..#.. ..#..
#..## #...# #.... #.#.# #.#.. ....# ..#.. #...# .#.#. #.#.# .#.#. ..#.. .#...
#..## #...# #.... #..#. #..#. ....# ..#.. #...# .#.#. ##.## #...# ..#.. #....
#...# .###. #.... .##.# #...# ####. ..#.. .###. ..#.. #...# #...# ..#.. #####

0123456789-.:
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###. .... .. ..
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...# .... .. ##
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# .... .. ##
#.#.# ..#.. ..##. .###. #..#. ....# ####. ..#.. .###. .#### #### .. ..
##..# ..#.. .#... ....# ##### ....# #...# ..#.. #...# ....# .... .. ##
#...# ..#.. #.... ....# ...#. #...# #...# .#... #...# ....# .... ## ##
.###. .###. ##### ####. ...#. .###. .###. .#... .###. .###. .... ## ..

/+!?(),'&%=<>
....# ..... ## .###. .# #. .. ## .##.. ##..# .... ...# #...
....# ..#.. ## #...# #. .# .. ## #..#. ##..# .... ..#. .#..
...#. ..#.. ## ....# #. .# .. #. .##.. ...#. #### .#.. ..#.
..#.. ##### ## ..##. #. .# .. .. .#... ..#.. .... #... ...#
.#... ..#.. ## ..#.. #. .# ## .. #.#.# .#... #### .#.. ..#.
#.... ..#.. .. ..... #. .# ## .. #..#. #..## .... ..#. .#..
#.... ..... ## ..#.. .# #. #. .. .##.# #..## .... ...# #...
"""


def _cut(sheet: str) -> dict[str, tuple[str, ...]]:
    glyphs: dict[str, tuple[str, ...]] = {}
    for block in sheet.strip().split("\n\n"):
        letters, *rows = block.split("\n")
        columns = zip(*(row.split() for row in rows), strict=True)
        glyphs.update(zip(letters, columns, strict=True))
    return glyphs


GLYPHS = _cut(_SHEET)


def plain(text: str) -> str:
    """The text in the letters that there are: upper case, without accents, ? for the rest."""
    flat = unicodedata.normalize("NFKD", text.replace("_", " ")).upper()
    kept = (letter for letter in flat if not unicodedata.combining(letter))
    words = "".join(letter if letter in GLYPHS or letter.isspace() else "?" for letter in kept)
    return " ".join(words.split())


def width(text: str) -> int:
    """How many dots wide the text will be."""
    dots = sum((len(GLYPHS[one][0]) if one != " " else SPACE) + GAP for one in plain(text))
    return max(0, dots - GAP)


def write(image: Image.Image, x: int, y: int, text: str, ink: int = 1) -> int:
    """Writes the text with its top left dot at (x, y); returns the x after its last dot."""
    for letter in plain(text):
        if letter == " ":
            x += SPACE + GAP
            continue
        x = stamp(image, x, y, GLYPHS[letter], ink) + GAP
    return x - GAP


def stamp(image: Image.Image, x: int, y: int, rows: tuple[str, ...], ink: int = 1) -> int:
    """Puts a little picture of # and . at (x, y); its dots off stay as they are."""
    for down, row in enumerate(rows):
        for across, dot in enumerate(row):
            if dot == "#" and 0 <= x + across < image.width and 0 <= y + down < image.height:
                image.putpixel((x + across, y + down), ink)
    return x + len(rows[0])
