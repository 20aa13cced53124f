"""The tables of a zone pack, as GeoPackage 1.3 (OGC 12-128r18) asks for them."""

from __future__ import annotations

from typing import Final

from firmware.maps.large import RUNS as RUNS_TABLE
from firmware.maps.packs import ID_INDEX
from firmware.maps.runs import RUN_BITS

VERSION: Final = 10300  # PRAGMA user_version of GeoPackage 1.3

_WGS84: Final = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,'
    'AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,'
    'AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],'
    'AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]'
)

BEFORE: Final = (
    # Section 1.1.2: the reference systems, of which three must be there.
    """CREATE TABLE gpkg_spatial_ref_sys (
        srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
        organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT
    )""",
    f"""INSERT INTO gpkg_spatial_ref_sys VALUES
        ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', NULL),
        ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', NULL),
        ('WGS 84', 4326, 'EPSG', 4326, '{_WGS84}', 'longitude and latitude in degrees')""",
    # Section 1.1.3: what the file holds.
    """CREATE TABLE gpkg_contents (
        table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
        description TEXT DEFAULT '', last_change DATETIME NOT NULL
            DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
        min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
        CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)
    )""",
    # Section 2.1.5: which column is the geometry; heights and measures are prohibited (0).
    """CREATE TABLE gpkg_geometry_columns (
        table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
        srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
        CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
        CONSTRAINT uk_gc_table_name UNIQUE (table_name),
        CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
        CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)
    )""",
    # Section 2.3.2: the extensions in use.
    """CREATE TABLE gpkg_extensions (
        table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL,
        scope TEXT NOT NULL,
        CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name)
    )""",
    """CREATE TABLE features (
        fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom GEOMETRY,
        kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT,
        source TEXT, licence TEXT, dated TEXT, confidence TEXT, attributes TEXT
    )""",
    "INSERT INTO gpkg_geometry_columns VALUES ('features', 'geom', 'GEOMETRY', 4326, 0, 0)",
    """INSERT INTO gpkg_extensions VALUES ('features', 'geom', 'gpkg_rtree_index',
        'http://www.geopackage.org/spec130/#extension_rtree', 'write-only')""",
    "CREATE VIRTUAL TABLE rtree_features_geom USING rtree(id, minx, maxx, miny, maxy)",
)

FEATURE: Final = "INSERT INTO features VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
OUTLINE: Final = "INSERT INTO rtree_features_geom VALUES (?, ?, ?, ?, ?)"

INDEXES: Final = (f"CREATE UNIQUE INDEX {ID_INDEX} ON features (kind, id)",)

STAGE: Final = (
    """CREATE TABLE staged (
        key INTEGER, kind TEXT, id TEXT, file TEXT, number INTEGER, has_own_id INTEGER, geom BLOB,
        name TEXT, source TEXT, licence TEXT, dated TEXT, confidence TEXT, attributes TEXT,
        minx DOUBLE, miny DOUBLE, maxx DOUBLE, maxy DOUBLE
    )""",
    "INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    """SELECT geom, kind, id, name, source, licence, dated, confidence, attributes, has_own_id,
        minx, miny, maxx, maxy FROM staged ORDER BY key, kind, id, file, number""",
    """SELECT kind, id FROM staged GROUP BY kind, id
        HAVING count(*) > 1 AND (min(has_own_id) = 0 OR min(geom) != max(geom) OR count(DISTINCT
            ifnull(name, '') || char(31) || ifnull(source, '') || char(31) || ifnull(licence, '')
            || char(31) || ifnull(dated, '') || char(31) || ifnull(confidence, '') || char(31)
            || ifnull(attributes, '')) > 1)
        ORDER BY min(rowid) LIMIT 10""",
    "SELECT file, number FROM staged WHERE kind = ? AND id = ? ORDER BY rowid",
)
"""What is read, before it is sorted: its table, a row of it, all in order, and ids that are there
twice and where."""

_PUT: Final = """INSERT OR REPLACE INTO rtree_features_geom VALUES (NEW.fid,
        ST_MinX(NEW.geom), ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom));"""
_DROP: Final = "DELETE FROM rtree_features_geom WHERE id = OLD.fid;"
_HAS: Final = "(NEW.geom NOTNULL AND NOT ST_IsEmpty(NEW.geom))"
_HAS_NOT: Final = "(NEW.geom ISNULL OR ST_IsEmpty(NEW.geom))"

# Annex F.3: with these an editor like QGIS keeps the R*Tree true. They come after the features,
# because SQLite alone has no ST_ functions.
AFTER: Final = (
    f"""CREATE TRIGGER rtree_features_geom_insert AFTER INSERT ON features
        WHEN {_HAS} BEGIN {_PUT} END""",
    f"""CREATE TRIGGER rtree_features_geom_update1 AFTER UPDATE OF geom ON features
        WHEN OLD.fid = NEW.fid AND {_HAS} BEGIN {_PUT} END""",
    f"""CREATE TRIGGER rtree_features_geom_update2 AFTER UPDATE OF geom ON features
        WHEN OLD.fid = NEW.fid AND {_HAS_NOT} BEGIN {_DROP} END""",
    f"""CREATE TRIGGER rtree_features_geom_update3 AFTER UPDATE ON features
        WHEN OLD.fid != NEW.fid AND {_HAS} BEGIN {_DROP} {_PUT} END""",
    f"""CREATE TRIGGER rtree_features_geom_update4 AFTER UPDATE ON features
        WHEN OLD.fid != NEW.fid AND {_HAS_NOT}
        BEGIN DELETE FROM rtree_features_geom WHERE id IN (OLD.fid, NEW.fid); END""",
    f"""CREATE TRIGGER rtree_features_geom_delete AFTER DELETE ON features
        WHEN OLD.geom NOT NULL BEGIN {_DROP} END""",
)

# Only a pack with large features has them. The name keeps it out of the list of layers: GDAL takes
# one like that for an index, and QGIS would ask which of two tables is meant.
RUNS: Final = (
    f"""CREATE VIRTUAL TABLE {RUNS_TABLE} USING rtree(
        run, minx, maxx, miny, maxy, +first_lat, +last_lat, +is_ring, +geom
    )""",
    # The runs of what an editor changed are no longer true: the whole is read then.
    f"""CREATE TRIGGER {RUNS_TABLE}_update AFTER UPDATE OF fid, geom ON features
        BEGIN DELETE FROM {RUNS_TABLE} WHERE run >> {RUN_BITS} = OLD.fid; END""",
    f"""CREATE TRIGGER {RUNS_TABLE}_delete AFTER DELETE ON features
        BEGIN DELETE FROM {RUNS_TABLE} WHERE run >> {RUN_BITS} = OLD.fid; END""",
)
RUN: Final = f"INSERT INTO {RUNS_TABLE} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
