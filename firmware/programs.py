"""The entry points of the unit's programs: without the libraries of a unit they say what to do.

A person with the bare package, or with the desk's tools alone, gets a sentence and no traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from firmware.outlet import guarded


def sledwardend() -> int:
    """The daemon."""

    def load() -> Callable[[], int]:
        from firmware.daemon import main  # noqa: PLC0415  # what fails here is to be caught here

        return main

    return _run("sledwardend", load)


def dash() -> int:
    """The glass."""

    def load() -> Callable[[], int]:
        from firmware.dash.main import main  # noqa: PLC0415  # what fails here is to be caught here

        return main

    return _run("sledwarden-dash", load)


def link() -> int:
    """The service port."""

    def load() -> Callable[[], int]:
        from firmware.link.main import main  # noqa: PLC0415  # what fails here is to be caught here

        return main

    return _run("sledwarden-link", load)


def page() -> int:
    """The live web page."""

    def load() -> Callable[[], int]:
        from firmware.page.main import main  # noqa: PLC0415  # what fails here is to be caught here

        return main

    return _run("sledwarden-page", load)


def _run(name: str, load: Callable[[], Callable[[], int]]) -> int:
    try:
        main = load()
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.partition(".")[0] == "firmware":
            raise
        sys.stderr.write(
            f"{name}: {fault.name} is not installed: the libraries of a unit were expected. "
            "Install them with: pip install 'sledwarden[unit]'\n"
        )
        return 1
    return guarded(name, main)
