"""HTML and SVG as values: every text is escaped on its way in, and only what was built here is not.

So no name of a unit, a zone or a law can reach the page as markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from host_tools.exports.rows import clean

VOID = frozenset({"meta", "br", "hr", "col"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | Markup | int | Iterable["Child"] | None


def el(tag: str, *children: Child, **attributes: str | float | None) -> Markup:
    """An element; `class_` is class, other underscores are hyphens, None leaves the attribute out.

    A float is written with as few digits as it needs.
    """
    said = "".join(
        f' {_name(name)}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{said}>")
    return Markup(f"<{tag}{said}>{join(children)}</{tag}>")


def join(children: Iterable[Child]) -> Markup:
    """Children one after another; plain text is escaped."""
    return Markup("".join(_parts(children)))


def short(value: float) -> str:
    """A coordinate to a tenth, without a needless zero."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _parts(children: Iterable[Child]) -> Iterable[str]:
    for one in children:
        if one is None:
            continue
        if isinstance(one, Markup):
            yield str(one)
        elif isinstance(one, str | int):
            yield escape(clean(str(one)))
        else:
            yield from _parts(one)


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-") if name != "viewBox" else name


def _value(value: str | float | None) -> str:
    return escape(clean(value)) if isinstance(value, str) else short(float(value or 0))
