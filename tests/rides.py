"""Journals of short rides for the desk's tools, judged by the real core, sealed by the writer."""

from __future__ import annotations

from pathlib import Path

from host_tools.journals.copy import JournalCopy
from host_tools.replay import replaying
from host_tools.replay.recordings import Kind, Wishes, open_recording

LAKE = Path(__file__).parent.parent / "host_tools" / "demo" / "lake.gpkg"

NIGHT = """\
# Law: wi
# Start: 2006-01-15T04:38:00Z
# Floor: 2005-01-01
0.0   rtc dead
0.0   tether in
0.0   engine on
0.0   lamp head supply=on light=850
0.0   lamp tail supply=on light=300 colour=red
0.0   ride lat=44.05 lon=-88.43 heading=90 speed=0
5.0   ride speed=45 over=8
62.0  ride speed=25 over=4
70.0  ride speed=8 over=4
80.0  ride speed=60 over=5
85.0  lamp head light=3
92.0  button press
95.0  lamp head light=850
98.0  ride speed=40 over=3
100.0 unplug gps
110.0 replug gps
118.0 tether out
119.0 end
"""
"""A night on the demo's lake: past a shanty too fast, over 55 mph, a lamp out, no GPS for 10 s."""

CLEAN = """\
# Law: wi
# Start: 2006-01-15T18:38:00Z
# Floor: 2005-01-01
0.0   tether in
0.0   engine on
0.0   lamp head supply=on light=850
0.0   lamp tail supply=on light=300 colour=red
0.0   ride lat=44.05 lon=-88.43 heading=90 speed=20
20.0  end
"""
"""Twenty seconds of a bright day."""

NO_FIX = """\
# Law: wi
# Start: 2006-01-15T04:38:00Z
# Floor: 2005-01-01
0.0   tether in
0.0   engine on
5.0   tether out
9.0   end
"""
"""A unit that never has a fix."""


def journal_of(text: str, folder: Path, zones: tuple[Path, ...] = (LAKE,)) -> Path:
    """A journal's folder with one boot more: the ride of this script."""
    script = folder.parent / f"{folder.name}.drive"
    script.write_text(text)
    recording = open_recording(script, Kind.DRIVE, Wishes(zones=zones))
    core = replaying.build(recording.config)
    with JournalCopy(folder, recording.config, core, "a test") as copy:
        for at_s, reading, told in replaying.judge(replaying.stream(recording), core):
            copy.keep(at_s, reading, told)
    return folder
