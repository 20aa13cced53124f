"""The real daemon stores what it closed, keeps the ledger, and deletes what its owner names."""

from __future__ import annotations

from pathlib import Path

from daemons import Daemon

from firmware.journal import folder, ledger, reader
from firmware.journal.folder import LEDGER
from firmware.journal.ledger import Ledger
from firmware.journal.record import Heard, Note

PARKED = """# Name: Parked
# Law: wi
# Start: 2026-01-17T23:30:00Z
# Floor: 2025-01-01
0.0   engine off
0.0   ride lat=45.9 lon=-89.5 heading=90 speed=0
600.0 end
"""

FAST = """# Name: Too fast by night
# Law: wi
# Start: 2026-01-18T03:30:00Z
# Floor: 2025-01-01
0.0   engine on
0.0   ride lat=45.9 lon=-89.5 heading=90 speed=40
20.0  ride speed=62 over=5
60.0  end
"""


def _told(daemon: Daemon, lines: int) -> Ledger:
    """The ledger once it has so many lines; each state of the feed is a look at it."""
    path = daemon.journal / LEDGER
    daemon.wait_for(lambda _state: ledger.read(path).count >= lines)
    return ledger.read(path)


def test_a_start_stores_the_boot_before_and_an_owner_deletes_it(tmp_path: Path) -> None:
    drive = tmp_path / "parked.drive"
    drive.write_text(PARKED)
    for number in (1, 2):
        with Daemon(tmp_path, "--simulate", str(drive), "--speed", "4") as daemon:
            daemon.wait_for(lambda state: state.speed_mph is not None)
            if number == 2:
                # Boot 1 and 2 begin, and what boot 1 closed is stored.
                told = _told(daemon, 3)
                # of each boot one or two: the first date begins another segment
                assert {place.boot for place in folder.segments(daemon.journal)} == {1, 2}
                assert told.segments()[1, 1].verdict == "whole"
                assert daemon.feed.send("forget", "1")
                grave = _told(daemon, 4).tombstones()[1, 1]
                assert (grave.why, grave.line) == ("owner", told.segments()[1, 1].count)
            assert daemon.end() == 0, daemon.log
    assert {place.boot for place in folder.segments(daemon.journal)} == {2}
    notes = [one for _, one in reader.read(daemon.journal) if isinstance(one, Note)]
    assert [one.kind for one in notes] == ["start"]
    assert "ended: SIGTERM" in notes[0].what


def test_what_the_receiver_said_stands_beside_an_exceedance(tmp_path: Path) -> None:
    drive = tmp_path / "fast.drive"
    drive.write_text(FAST)
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "8") as daemon:
        assert daemon.wait(150) == 0, daemon.log
    heard = [one for _, one in reader.read(daemon.journal) if isinstance(one, Heard)]
    sentences = "".join(one.octets for one in heard).splitlines()
    times = [line.split(",")[1] for line in sentences if line.startswith("$GPRMC")]
    # Over 55 mph from about 23.5 s on: from 20 s before that to the end, each second once.
    assert times[0] <= "033004.000"
    assert times[-1] >= "033043.000"
    assert times == sorted(set(times))
