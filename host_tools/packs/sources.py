"""Vector files as streams of features, whatever of GDAL's formats they are in.

GDAL hands over batches in Arrow's layout, so that a state's map takes no more memory than one
batch. What is compressed (.gz, .zip) is read as it is; what is not in degrees of WGS 84 is
converted on the way.
"""

from __future__ import annotations

import gzip
import tempfile
import warnings
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nanoarrow
import pyogrio

from firmware.errors import ZoneError
from firmware.files import refuse_unless_regular
from host_tools.packs.projections import Projection, projection_of
from host_tools.packs.rows import Box
from host_tools.packs.whole import refuse_unless_whole

BATCH: Final = 8192
_HEAD_BYTES: Final = 1 << 18
OSM: Final = (".pbf", ".osm")
_DEGREES: Final = (None, "EPSG:4326", "OGC:CRS84")
_WANTED: Final = "GeoJSON or another vector map"
_LINES: Final = (".geojsonl", ".geojsons", ".ndjson", ".jsonl")
_COUNTED: Final = (".gpkg", ".fgb", ".shp")
_LARGEST_MB: Final = "800"  # of one shape in GeoJSON: some six million corners, not GDAL's 1.5
_FOLDER: Final = ".gdb"  # Esri's file geodatabase is a folder
_HARMLESS: Final = ("Non closed ring", "unregistered extension")
_FINE: Final = ("points", "lines", "multilinestrings", "multipolygons")
_OSM_HEAD: Final = """\
closed_ways_are_polygons=aeroway,amenity,boundary,building,craft,geological,historic,landuse,\
leisure,military,natural,office,place,shop,sport,tourism,water,piste:type=downhill
attribute_name_laundering=no
"""


_Read = tuple[
    Sequence[bytes | None], dict[str, Sequence[Any]], float | None, tuple[str, float] | None
]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some features of a file: the geometries as well-known binary, and each column that is asked
    for. `number` is that of the first, from 1; `done` the share of the file, where it is known;
    `was_in` the system that they were converted from, and how far off that may be, if they were."""

    number: int
    wkbs: Sequence[bytes | None]
    columns: dict[str, Sequence[Any]]
    done: float | None
    was_in: tuple[str, float] | None = None

    def told(self, index: int) -> dict[str, Any]:
        """What is told of one feature."""
        return {name: values[index] for name, values in self.columns.items()}


def batches(
    path: Path,
    columns: Collection[str],
    *,
    where: str | None = None,
    bounds: Box | None = None,
    size: int = BATCH,
) -> Iterator[Batch]:
    """The features of a file, layer after layer. `where` is SQL's, `bounds` are degrees.

    Raises ZoneError for a file that can't be read, or can't be converted to degrees of WGS 84.
    """
    if not path.exists():
        raise ZoneError(str(path), "there is no such file: expected GeoJSON or another vector map.")
    if path.suffix != _FOLDER:
        if path.is_dir():
            raise ZoneError(
                str(path), "is a folder: expected GeoJSON or another vector map.", "Name the map."
            )
        refuse_unless_regular(path, _WANTED, ZoneError)
        refuse_unless_whole(path)
    number = 1
    with ExitStack() as open_files, _told(path):
        name, options = _opened(path, columns, open_files)
        # To list the layers of JSON all of it is read, and there is one.
        is_json = name.startswith("GeoJSONSeq:") or "DATE_AS_STRING" in options
        layers = [None] if is_json else _layers(name, path)
        for place, layer in enumerate(layers):
            for wkbs, values, share, was_in in _layer(
                name, layer, path, columns, where, bounds, size, options
            ):
                done = None if share is None else (place + share) / len(layers)
                yield Batch(number, wkbs, values, done, was_in)
                number += len(wkbs)
    if number == 1 and where is None and bounds is None:
        raise ZoneError(str(path), "holds no features: expected at least one.")


def _opened(
    path: Path, columns: Collection[str], open_files: ExitStack
) -> tuple[str, dict[str, Any]]:
    """What GDAL is given to open, and with which options."""
    name, head = str(path.resolve()), b""
    pyogrio.set_gdal_config_options({"OGR_GEOJSON_MAX_OBJ_SIZE": _LARGEST_MB})
    is_osm = path.name.endswith(OSM)
    if path.suffix == ".gz":
        # Else GDAL leaves a file beside the map.
        pyogrio.set_gdal_config_options({"CPL_VSIL_GZIP_WRITE_PROPERTIES": "NO"})
        with gzip.open(path) as file:
            head = file.read(_HEAD_BYTES)
        name = f"/vsigzip/{name}"
    elif path.suffix == ".zip":
        name = f"/vsizip/{{{name}}}/{_within(path)}"
    elif not is_osm and path.is_file():
        with path.open("rb") as plain:
            head = plain.read(_HEAD_BYTES)
    if is_osm:
        folder = open_files.enter_context(tempfile.TemporaryDirectory(prefix="sledwarden-osm-"))
        settings = Path(folder) / "osmconf.ini"
        settings.write_text(_osm_settings(columns))
        # One layer is read after another, and what belongs to the others is passed over.
        before = pyogrio.get_gdal_config_option("OGR_INTERLEAVED_READING")
        pyogrio.set_gdal_config_options({"OGR_INTERLEAVED_READING": True, "CPL_TMPDIR": folder})
        open_files.callback(
            pyogrio.set_gdal_config_options,
            {"OGR_INTERLEAVED_READING": before, "CPL_TMPDIR": None},
        )
        return name, {"CONFIG_FILE": str(settings)}
    if _is_by_lines(path, head):
        return f"GeoJSONSeq:{name}", {}
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        # Else a word that looks like a date is made one, and 2026-02-30 becomes 2026-03-02.
        return name, {"DATE_AS_STRING": "YES"}
    return name, {}


def _is_by_lines(path: Path, head: bytes) -> bool:
    """Whether a file is one feature a line, whatever its name: footprints come as .csv.gz."""
    if path.name.removesuffix(".gz").endswith(_LINES):
        return True
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n\x1e").split(b"\n", 1)[0].rstrip()
    is_feature = b'"Feature"' in first and b'"FeatureCollection"' not in first
    return is_feature and first.startswith(b"{") and first.endswith(b"}")


def _within(path: Path) -> str:
    """The one map in a .zip; raises ZoneError where there is none or more."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one for one in archive.namelist() if not one.endswith("/")]
    except (zipfile.BadZipFile, OSError) as error:
        raise _unreadable(path, error) from error
    maps = [
        one for one in names if one.lower().endswith((".geojson", ".json", ".geojsonl", *_COUNTED))
    ]
    if len(maps) != 1:
        raise ZoneError(
            str(path), f"holds {len(maps)} maps: expected one.", "Unpack it and name the map."
        )
    return maps[0]


def _osm_settings(columns: Collection[str]) -> str:
    """Which tags GDAL makes columns of."""
    tags = ",".join(sorted(set(columns) - {"id", "osm_id", "osm_way_id"}))
    return _OSM_HEAD + "".join(
        f"[{layer}]\nosm_id=yes\nother_tags=no\nattributes={tags}\n" for layer in _FINE
    )


def _layers(name: str, path: Path) -> list[str | None]:
    listed = pyogrio.list_layers(name)
    layers: list[str | None] = [str(layer) for layer, form in listed if form is not None]
    if not layers:
        raise ZoneError(str(path), "has no geometries: expected GeoJSON or another vector map.")
    return [one for one in layers if one in _FINE] if path.name.endswith(OSM) else layers


def _layer(
    name: str,
    layer: str | None,
    path: Path,
    columns: Collection[str],
    where: str | None,
    bounds: Box | None,
    size: int,
    options: dict[str, Any],
    projection: Projection | None = None,
) -> Iterator[_Read]:
    box = bounds if projection is None or bounds is None else projection.box(bounds)
    total = pyogrio.read_info(name, layer)["features"] if path.suffix in _COUNTED else 0
    done = 0
    with pyogrio.open_arrow(
        name, layer=layer, batch_size=size, where=where, bbox=box, **options
    ) as (meta, stream):
        if projection is None and meta["crs"] not in _DEGREES:
            projection = projection_of(path, meta["crs"])
            if projection is not None and bounds is not None:  # of which it is now known what holds
                yield from _layer(
                    name, layer, path, columns, where, bounds, size, options, projection
                )
                return
        geometry = meta["geometry_name"] or "wkb_geometry"
        prefix = _osm_prefix(layer) if path.name.endswith(OSM) else ""
        chunks = iter(nanoarrow.ArrayStream(stream).iter_chunks())
        while (chunk := _next(chunks)) is not None:
            names = [field.name for field in chunk.schema.fields]
            values: dict[str, Sequence[Any]] = {
                one: _values(chunk.child(at))
                for at, one in enumerate(names)
                if one in columns or one in ("osm_id", "osm_way_id", geometry)
            }
            wkbs = values.pop(geometry)
            if prefix:
                _give_ids(values, prefix)
            done += len(wkbs)
            was_in = None
            if projection is not None:
                wkbs = projection.degrees(wkbs)
                was_in = projection.name, projection.off_m()
                if bounds is not None:
                    kept = projection.reaching(wkbs, bounds)
                    wkbs = [wkbs[at] for at in kept]
                    values = {one: [column[at] for at in kept] for one, column in values.items()}
            yield wkbs, values, done / total if total else _share_read(path), was_in


def _next(chunks: Iterator[Any]) -> Any:
    """The next batch; raises ValueError with what GDAL warns of.

    GDAL only warns where it makes a number of a word: the id "a7" would become 0. A ring that does
    not close is told later, with its feature.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        chunk = next(chunks, None)
    for warning in warned:
        if not any(one in str(warning.message) for one in _HARMLESS):
            raise ValueError(str(warning.message))
    return chunk


def _values(column: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Arrow's own types of JSON and geometry are unknown
        found: list[Any] = column.to_pylist()
    return found


def _osm_prefix(layer: str | None) -> str:
    return {"points": "n", "lines": "w"}.get(layer or "", "r")


def _give_ids(values: dict[str, Any], prefix: str) -> None:
    """Nodes, ways and relations count apart: n7, w7 and r7 are three things."""
    own = values.pop("osm_id")
    ways = values.pop("osm_way_id", [None] * len(own))
    values["id"] = [
        f"w{way}" if way else f"{prefix}{one}" for one, way in zip(own, ways, strict=True)
    ]


def _share_read(path: Path) -> float | None:
    """How much of a file this process has read, where the system tells it."""
    wanted = path.resolve()
    try:
        for one in Path("/proc/self/fd").iterdir():
            if one.exists() and one.resolve() == wanted:
                text = Path("/proc/self/fdinfo", one.name).read_text()
                size = wanted.stat().st_size
                return min(1.0, int(text.split()[1]) / size) if size else None
    except (OSError, ValueError):
        return None
    return None


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns what GDAL says of a file into one sentence about it."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ZoneError(
            str(path),
            f"is no UTF-8: a word has the byte 0x{error.object[error.start]:02x}.",
            "Save it again in UTF-8.",
        ) from error
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
        raise _unreadable(path, error) from error
    except (OSError, EOFError, RuntimeError, ValueError, Warning) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, said: Warning | Exception | str) -> ZoneError:
    reason = str(said).split("; It might help")[0].rstrip(". ")
    advice = "Expected GeoJSON or another vector map."
    if "SQL" in reason:
        advice = "Look at --where."
    return ZoneError(str(path), f"can't be read: {reason}.", advice)
