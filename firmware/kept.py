"""What the unit keeps of the map beside its journal: the rider's marks, reports of false things.

Both are GeoJSON (RFC 7946), which `sledwarden zones build` reads and a friend's unit takes. The
card may stall for seconds, so a thread of its own writes; what can't be read is put aside, and
never written over.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

from firmware.errors import SledwardenError
from firmware.files import put_whole, whole
from firmware.readings import Missing, Surroundings
from firmware.rider.mark_files import Json, arguments_of, collection, mark_feature, report_feature
from firmware.rider.marks import Mark
from firmware.rider.requests import Report, Requests

log = logging.getLogger("sledwarden.kept")

MARKS, REPORTS = "marks.geojson", "reports.geojson"

_MOST_BYTES = 16 << 20
_CLOSE_S = 2.0


class Kept:
    """Reads the marks at the start, and writes what has changed."""

    def __init__(self, marks: Path, reports: Path) -> None:
        self._marks, self._reports = marks, reports
        self._written = (0, False)
        self._told = 0
        self._queue: queue.SimpleQueue[tuple[Path, Json | None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="kept", daemon=True)
        self._thread.start()

    def marks(self) -> list[str]:
        """What to ask the unit for, a line a mark; a file that can't be read is put aside."""
        try:
            octets = whole(self._marks, "the rider's marks", _MOST_BYTES)
        except FileNotFoundError:
            return []
        except (OSError, SledwardenError) as fault:
            log.warning("%s: the marks can't be read: %s", self._marks, fault)
            return []
        try:
            return list(arguments_of(json.loads(octets)))
        except (ValueError, RecursionError) as fault:
            aside = self._marks.with_name(f"{self._marks.name}.broken")
            log.warning("%s: no marks: %s; kept as %s", self._marks, fault, aside.name)
            with contextlib.suppress(OSError):
                self._marks.replace(aside)
            return []

    def look(
        self, requests: Requests, around: Surroundings | Missing, at_s: float, utc: datetime | None
    ) -> None:
        """Hands what has changed to the writer; waits for nothing."""
        now = (requests.marked.changes, utc is not None)
        if now != self._written and (now[0] > 0 or self._written[0] > 0):
            self._written = now
            marks = requests.marked.standing()
            self._queue.put((self._marks, collection([_mark(one, at_s) for one in marks])))
        while self._told < len(requests.reports):
            report = requests.reports[self._told]
            self._told += 1
            self._queue.put((self._reports, _report(report, around)))

    def finish(self) -> None:
        """Writes what is left, for two seconds at most."""
        self._queue.put(None)
        self._thread.join(timeout=_CLOSE_S)

    def _run(self) -> None:
        while (asked_for := self._queue.get()) is not None:
            path, document = asked_for
            try:
                if path == self._reports:
                    document = collection([*_features(path), document])
                _write(path, document)
            except (OSError, SledwardenError, ValueError) as fault:
                log.error("%s: can't be written: %s", path, fault)


def _mark(mark: Mark, at_s: float) -> Json:
    place = (mark.lat_deg, mark.lon_deg)
    return mark_feature(mark.kind, mark.id, place, mark.expires_s - at_s, mark.until, mark.by)


def _report(report: Report, around: Surroundings | Missing) -> Json:
    features = () if isinstance(around, Missing) else around.features
    found = next((one for one in features if report.id in (one.id, f"{one.kind}:{one.id}")), None)
    packs = "" if isinstance(around, Missing) else ", ".join(around.packs)
    return report_feature(report.id, report.why, found, packs, report.utc, report.by)


def _features(path: Path) -> list[Any]:
    """The features that a file holds by now; one that holds none is put aside first."""
    try:
        document = json.loads(whole(path, "reports", _MOST_BYTES))
        features = document["features"]
        if not isinstance(features, list):
            raise TypeError("features: must be a list")
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as fault:
        aside = path.with_name(f"{path.name}.broken")
        log.warning("%s: no reports: %s; kept as %s", path, fault, aside.name)
        path.replace(aside)
        return []
    return features


def _write(path: Path, document: object) -> None:
    """Puts a whole file in the place of the older one, on the disk."""
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    put_whole(path, text.encode())
