"""KML 2.2 (OGC 07-147r2): the track in colours by its standing, findings and events as places."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape

from firmware.findings import Margin
from host_tools.exports.rows import STANDING, Line, Row, clean, lines, marks, title, words
from host_tools.journals.ride import Ride
from host_tools.replay.replaying import iso

# KML writes a colour as alpha, blue, green, red.
_STYLES = {
    Margin.FREE: ("ff8a8078", 3),
    Margin.FAR: ("ffe9b456", 3),
    Margin.BELOW: ("ffb27200", 3),
    Margin.NEAR: ("ff009fe6", 4),
    Margin.UNSURE: ("ff2c7ee8", 5),
    Margin.OVER: ("ff1a3ab8", 6),
    Margin.UNKNOWN: ("ffb0aaa5", 2),
}


def write(ride: Ride, path: Path) -> None:
    """Writes one document with a folder for each boot's track, the events and the findings."""
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write('<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n')
        file.write(f"<name>{_text(ride.unit)}</name>\n")
        for margin, (colour, width) in _STYLES.items():
            file.write(
                f'<Style id="m{margin.value}"><LineStyle><color>{colour}</color>'
                f"<width>{width}</width></LineStyle></Style>\n"
            )
        for leg in ride.legs:
            said = (
                f"<description>{_text(redated)}</description>" if (redated := leg.redated()) else ""
            )
            file.write(f"<Folder><name>Boot {leg.start.boot}</name>{said}\n")
            for line in lines(leg):
                _line(file, line)
            file.write("</Folder>\n")
        for record, name in (("event", "Events"), ("finding", "Findings")):
            file.write(f"<Folder><name>{name}</name>\n")
            for row in marks(ride):
                if row.record == record and row.lat is not None:
                    _place(file, row)
            file.write("</Folder>\n")
        file.write("</Document></kml>\n")


def _text(text: str) -> str:
    return escape(clean(text))


def _line(file: TextIO, line: Line) -> None:
    leg, track = line.leg, line.leg.track
    corners = " ".join(f"{track.lon_deg[n]:.7f},{track.lat_deg[n]:.7f}" for n in line.numbers())
    shape = "LineString" if len(line.numbers()) > 1 else "Point"  # a fix alone joins nothing
    name = STANDING[line.margin] + (f", {line.clause}" if line.clause else "")
    first, last = leg.utc(track.at_s[line.begin]), leg.utc(track.at_s[line.end - 1])
    span = ""
    if first is not None and last is not None:
        span = f"<TimeSpan><begin>{iso(first)}</begin><end>{iso(last)}</end></TimeSpan>"
    file.write(
        f"<Placemark><name>{_text(name)}</name>"
        f"<description>up to {line.top_mph:.1f} mph</description>{span}"
        f"<styleUrl>#m{line.margin.value}</styleUrl>"
        f"<{shape}><coordinates>{corners}</coordinates></{shape}></Placemark>\n"
    )


def _place(file: TextIO, row: Row) -> None:
    when = "" if row.t is None else f"<TimeStamp><when>{iso(row.t)}</when></TimeStamp>"
    file.write(
        f"<Placemark><name>{_text(title(row))}</name>"
        f"<description>{_text(words(row))}</description>{when}"
        f"<Point><coordinates>{row.lon:.7f},{row.lat:.7f}</coordinates></Point></Placemark>\n"
    )
