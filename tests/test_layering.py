"""Which way imports point: the layers, the doors of the vendors' libraries, the one clock.

A file that is new gets its line in `LAYERS`; a library that is new gets its door in `DOORS`.
"""

from __future__ import annotations

import ast
import fnmatch
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS: dict[str, tuple[int, str]] = {
    # words: the standard library and each other
    "firmware": (0, "words"),
    **dict.fromkeys(
        [
            f"firmware.{name}"
            for name in (
                "errors", "units", "clock", "quick", "readings", "findings", "state", "grain",
                "steady",
            )
        ],
        (0, "words"),
    ),
    # facts: true before the engine starts
    **dict.fromkeys(
        [
            f"firmware.{name}"
            for name in (
                "circles", "parts", "sun", "lamps", "notify", "files", "signals", "leash",
                "toml_text", "outlet", "gps", "gps.*",
                "signing", "race_token",
                "maps", "maps.*", "drives", "drives.*", "feed", "feed.*", "port", "port.*",
                "buses", "buses.*",
            )
        ],
        (1, "facts"),
    ),
    "firmware.config": (2, "config"),
    "firmware.config.*": (2, "config"),
    "firmware.law": (2, "law"),
    "firmware.law.*": (2, "law"),
    "firmware.sources": (3, "sources"),
    "firmware.sources.*": (3, "sources"),
    "firmware.rules": (3, "rules"),
    "firmware.rules.*": (3, "rules"),
    "firmware.journal": (3, "journal"),
    "firmware.journal.*": (3, "journal"),
    # what is made of findings, and what findings need that no single rule owns
    "firmware.duties": (4, "alerts"),
    **dict.fromkeys(
        [
            f"firmware.{name}"
            for name in (
                "alerts", "alerts.*", "rider", "rider.*", "situation", "situation.*",
            )
        ],
        (4, "alerts"),
    ),
    "firmware.outputs": (5, "outputs"),
    "firmware.outputs.*": (5, "outputs"),
    "firmware.binding": (6, "monitor"),
    "firmware.monitor": (6, "monitor"),
    "firmware.watch": (6, "monitor"),
    # roots: programs, and the parts that belong to one program alone
    "firmware.view": (7, "daemon"),
    "firmware.unit": (7, "daemon"),
    "firmware.kept": (7, "daemon"),
    "firmware.informed": (7, "daemon"),
    "firmware.wiring": (7, "daemon"),
    "firmware.simulate": (7, "daemon"),
    "firmware.daemon": (7, "daemon"),
    "firmware.programs": (7, "programs"),
    "firmware.dash": (7, "dash"),
    "firmware.dash.*": (7, "dash"),
    "firmware.page": (7, "page"),
    "firmware.page.*": (7, "page"),
    "firmware.link": (7, "link"),
    "firmware.link.*": (7, "link"),
    "host_tools": (8, "tools"),
    "host_tools.*": (8, "tools"),
}  # fmt: skip

JOURNAL_ORDER = (
    "texts", "around", "record", "recall", "beginning", "stored", "folder", "segment", "dating",
    "seal", "proof", "succession", "finish", "before",
    "health", "hearing", "room", "ledger", "rekey", "keeper", "open_segment", "writer", "reader",
    "listing", "redating",
)  # fmt: skip
"""Within the journal a file imports only what stands before it."""

SCREENS = frozenset({"dash", "page", "link"})
"""Programs that reach the unit through its socket and files alone."""

SCREENS_MAY = (
    "firmware.journal",
    "firmware.journal.reader",
    "firmware.journal.record",
    "firmware.journal.listing",
)

TOOLS_MAY = ("firmware.sources", "firmware.sources.drive", "firmware.dash", "firmware.dash.screen")
"""Of layers 3 to 7, what host_tools may import beside rules, journal, alerts and the monitor."""

DOORS: dict[str, tuple[str, ...]] = {
    "pynmea2": ("firmware.gps.nmea",),
    "serial": ("firmware.buses.uart", "firmware.buses.uart_fake"),
    "smbus2": ("firmware.buses.i2c", "firmware.buses.i2c_fake"),
    "gpiozero": ("firmware.buses.pins", "firmware.buses.pins_fake"),
    "ephem": ("firmware.sun",),
    "mcap": ("firmware.journal.*",),
    "zstandard": ("firmware.journal.stored",),
    "pyrage": ("firmware.journal.stored",),
    "cryptography": ("firmware.journal.seal", "firmware.signing"),
    "smp": ("firmware.link.*", "host_tools.port.sled", "host_tools.port.messages"),
    "smpclient": ("host_tools.port.sled",),
    "cbor2": ("firmware.link.frames", "host_tools.port.sled"),
    "tomlkit": ("firmware.link.settings",),
    "luma": ("firmware.dash.panel_*",),
    "PIL": ("firmware.dash.*",),
    "segno": ("firmware.dash.key_code",),
    "starlette": ("firmware.page.*",),
    "uvicorn": ("firmware.page.*",),
    "msgspec": ("firmware.*", "host_tools.*"),
    "typer": ("host_tools.*",),
    "rich": ("host_tools.*",),
    "gpxpy": ("host_tools.replay.gpx", "host_tools.exports.gpx"),
    "duckdb": ("host_tools.exports.parquet",),
    "pyogrio": ("host_tools.packs.sources",),
    "nanoarrow": ("host_tools.packs.sources",),
    "pyproj": ("host_tools.packs.projections",),
    "shapely": (
        "host_tools.packs.projections",
        "host_tools.packs.runs",
        "host_tools.packs.shapes",
        "host_tools.packs.tangles",
        "host_tools.report.maps",
    ),
    "numpy": (
        "host_tools.packs.build",
        "host_tools.packs.projections",
        "host_tools.packs.runs",
        "host_tools.packs.shapes",
        "host_tools.packs.tangles",
    ),
}

BY_NAME_MAY = ("firmware.parts", "host_tools.cli")
"""The only files that import by a name that stands in a table."""

CLOCK_MAY = ("firmware.clock", "firmware.buses.*_fake")
"""The one place that asks what time it is; a fake's far end, and who waits for a process, apart."""

CLOCK_CALLS = frozenset({
    ("time", "time"), ("time", "monotonic"), ("time", "perf_counter"), ("time", "sleep"),
    ("time", "time_ns"), ("time", "monotonic_ns"),
    ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"),
})  # fmt: skip


def layer_of(module: str) -> tuple[int, str] | None:
    """The layer and the group of a module; the most exact line of the table counts."""
    if module in LAYERS:
        return LAYERS[module]
    for pattern in sorted(LAYERS, key=len, reverse=True):
        if pattern.endswith("*") and fnmatch.fnmatchcase(module, pattern):
            return LAYERS[pattern]
    return None


def imports_of(module: str, source: str, modules: Iterable[str]) -> Iterator[str]:
    """The modules that a source text imports, anywhere in it, by their full names."""
    known = frozenset(modules)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".")[: -node.level]
                base = ".".join([*package, base] if base else package)
            inside = [f"{base}.{alias.name}" for alias in node.names]
            yield from (name if name in known else base for name in inside)


def complaints_of(module: str, source: str, modules: Iterable[str] = ()) -> list[str]:
    """Every rule that the source text of a module breaks."""
    here = layer_of(module)
    if here is None:
        return [f"{module}: has no layer: give it its line in LAYERS"]
    found: list[str] = []
    for name in dict.fromkeys(imports_of(module, source, modules)):
        top = name.partition(".")[0]
        if top in ("firmware", "host_tools"):
            fault = _inner(module, here, name)
        else:
            fault = _outer(module, here[0], top)
        if fault:
            found.append(f"{module}: imports {name}: {fault}")
    return [*found, *_calls(module, source)]


def _outer(module: str, layer: int, top: str) -> str:
    if top in sys.stdlib_module_names:
        return ""
    if layer == 0:
        return "the words import the standard library and each other"
    doors = DOORS.get(top)
    if doors is None:
        return "this library has no door in DOORS"
    if not any(fnmatch.fnmatchcase(module, door) for door in doors):
        return f"only {', '.join(doors)} may"
    return ""


def _inner(module: str, here: tuple[int, str], name: str) -> str:
    there = layer_of(name)
    if there is None:
        return "it has no layer"
    (layer, group), (below, other) = here, there
    if group == "tools":
        is_above = below in (5, 7) or other == "sources" or name.startswith("firmware.buses")
        return "host_tools may not" if is_above and name not in TOOLS_MAY else ""
    if other == "tools":
        return "firmware never imports host_tools"
    if below > layer:
        return f"layer {layer} may not import layer {below}"
    if group in SCREENS and below >= 3 and other != group:
        is_screen = group == "page" and name in ("firmware.dash", "firmware.dash.screen")
        if not is_screen and name not in SCREENS_MAY:
            return f"{group} reaches the unit through its socket and files"
    if layer == 3 and below == 3:
        return _within_three(module, group, name, other)
    if layer == 7 and below == 7 and other in SCREENS and group == "daemon":
        return f"the daemon never waits for the {other}"
    return ""


def _within_three(module: str, group: str, name: str, other: str) -> str:
    if group != other:
        return f"{group} and {other} never import one another"
    if group == "journal":
        rank = {f"firmware.journal.{file}": place for place, file in enumerate(JOURNAL_ORDER)}
        if module not in rank:
            return "give the file its place in JOURNAL_ORDER"
        return "" if rank.get(name, -1) < rank[module] else "the journal's order is the other way"
    if name in (f"firmware.{group}", f"firmware.{group}.base"):
        return ""
    return "a sibling is never imported, base.py excepted"


def _calls(module: str, source: str) -> Iterator[str]:
    by_name = any(fnmatch.fnmatchcase(module, one) for one in BY_NAME_MAY)
    asks_time = any(fnmatch.fnmatchcase(module, one) for one in CLOCK_MAY)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "time" and not asks_time:
            yield f"{module}: line {node.lineno}: only firmware.clock asks what time it is"
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        owner = of.id if isinstance(of, ast.Name) else ""
        if called in ("import_module", "__import__") and not by_name:
            yield f"{module}: line {node.lineno}: only {', '.join(BY_NAME_MAY)} may import by name"
        if (owner, called) in CLOCK_CALLS and not asks_time:
            yield f"{module}: line {node.lineno}: only firmware.clock asks what time it is"


def cycles_of(sources: dict[str, str]) -> list[str]:
    """Every ring of imports between modules, named by the modules in it."""
    arrows = {
        module: {name for name in imports_of(module, source, sources) if name in sources} - {module}
        for module, source in sources.items()
    }
    while True:  # take away whatever imports nothing that is left; a ring is what can't be taken
        ends = {module for module, names in arrows.items() if not names & arrows.keys()}
        if not ends:
            break
        arrows = {module: names for module, names in arrows.items() if module not in ends}
    while True:  # and whatever only leads to a ring
        inner = set().union(*arrows.values()) if arrows else set()
        if arrows.keys() <= inner:
            break
        arrows = {module: names for module, names in arrows.items() if module in inner}
    return sorted(
        f"{module} -> {', '.join(sorted(names & arrows.keys()))}"
        for module, names in arrows.items()
    )


def _tree() -> dict[str, str]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"):
            path.read_text(encoding="utf-8")
        for package in ("firmware", "host_tools") for path in sorted((ROOT / package).rglob("*.py"))
    }  # fmt: skip


TREE = _tree()


@pytest.mark.parametrize("module", TREE)
def test_every_file_keeps_the_rules(module: str) -> None:
    assert complaints_of(module, TREE[module], TREE) == []


def test_no_import_runs_in_a_ring() -> None:
    assert cycles_of(TREE) == []
