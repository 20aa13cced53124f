"""Runs in the guest: a ride on a disk that stalls, fills, fails, and comes back.

The disk is a device-mapper one, whose table is changed under the mounted file system. Each line on
the output that begins with a brace is what one fault did: test_disk_faults.py says what it must be.
"""

from __future__ import annotations

import codecs
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from firmware.clock import Clock
from firmware.findings import Finding, Verdict
from firmware.journal import folder, reader, writer
from firmware.journal.record import Gap, Record, Start
from firmware.journal.writer import Journal
from firmware.readings import Disk, Missing
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

DEVICE, CARD = "/dev/vda", Path("/mnt")
MAPPED = "/dev/dm-0"
"""The kernel's own name for it: without udev nobody makes /dev/mapper/card."""
PATIENCE_S = 20.0
STALL_MS = 500
ROOM_RECORDS, MORE_RECORDS = 64, 500
"""A small room in memory, and more than wait in it: some are lost and must stand as a gap."""
SLOW_S = STALL_MS / 2000
"""A put that takes longer has waited for a disk, or for the machine."""
NOBODY = 65534


def ask(*words: str) -> None:
    subprocess.run(words, check=True, env={**os.environ, "PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})


class MappedDisk:
    """The disk, by a table that says how it does."""

    def __init__(self) -> None:
        ask("mkdir", "-p", "/dev/mapper")
        with open(DEVICE, "rb") as disk:
            self._sectors = disk.seek(0, os.SEEK_END) // 512
        self._call("create", "card", "--table", self._table("linear", ""))
        ask("mount", "-t", "ext4", MAPPED, str(CARD))

    def _table(self, kind: str, more: str) -> str:
        return f"0 {self._sectors} {kind} {DEVICE} 0{more}"

    def _call(self, *words: str) -> None:
        ask("dmsetup", "--noudevsync", "--noudevrules", *words)

    def becomes(self, kind: str, more: str = "") -> None:
        self._call("load", "card", "--table", self._table(kind, more))
        self._call("suspend", "--noflush", "--nolockfs", "card")
        self._call("resume", "card")

    def fails(self) -> None:
        """From now on every write is answered with an error, and reads are not."""
        self.becomes("flakey", " 0 3600 1 error_writes")

    def stalls(self) -> None:
        self.becomes("delay", f" 0 {DEVICE} 0 {STALL_MS}")

    def is_well(self) -> None:
        self.becomes("linear")

    def start_again(self) -> None:
        """As the next power-on does: mounted anew."""
        ask("umount", "-l", str(CARD))
        ask("mount", "-t", "ext4", MAPPED, str(CARD))


class Ride:
    """A journal that is put numbered records, each urgent, and how long that took."""

    def __init__(self, name: str) -> None:
        self.root = CARD / name
        self.clock = Clock(from_zero=True)
        self.journal = Journal(self.root, Start("sled-7", "0.1.0"), self.clock)
        self.journal.open()
        self.number = 0
        self.slowest_s = 0.0
        self.slow = 0

    def put(self, count: int = 10) -> None:
        for _ in range(count):
            self.number += 1
            one = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "by day", value=float(self.number))
            begin_s = time.monotonic()
            self.journal.put(one, self.clock.mono_s(), urgent=True)
            took_s = time.monotonic() - begin_s
            self.slowest_s = max(self.slowest_s, took_s)
            self.slow += took_s > SLOW_S

    def waits(self, wanted: Callable[[], bool]) -> bool:
        end_s = time.monotonic() + PATIENCE_S
        while not wanted():
            if time.monotonic() > end_s:
                return False
            time.sleep(0.05)
        return True

    def trouble(self) -> str:
        """What the rider is told once something is; empty where nothing was in time."""
        self.waits(lambda: isinstance(self.journal.health().value, Missing))
        value = self.journal.health().value
        return value.detail if isinstance(value, Missing) else ""

    def told(self, fault: str, trouble: str, safe: int) -> None:
        """Ends the ride and says what came of it; `safe` was acknowledged before the fault."""
        self.waits(lambda: isinstance(self.journal.health().value, Disk))
        is_closed = self.journal.close(self.clock.mono_s(), timeout_s=PATIENCE_S)
        self.say(fault, trouble, safe, is_closed=is_closed)

    def say(self, fault: str, trouble: str, safe: int, *, is_closed: bool) -> None:
        records: list[Record] = [
            one
            for boot in folder.boots(self.root)
            if folder.segments(boot)
            for _, one in reader.read(boot)
        ]
        got = {int(one.value or 0) for one in records if isinstance(one, Finding)}
        (source,) = find([self.root])
        gaps = [one for one in records if isinstance(one, Gap)]
        what = {
            "fault": fault,
            "trouble": trouble,
            "is_closed": is_closed,
            "safe": safe,
            "put": self.number,
            "lost_safe": sorted(set(range(1, safe + 1)) - got),
            "lost": self.number - len(got) - sum(one.lost for one in gaps),
            "gaps": sorted({one.why for one in gaps}),
            "verdict": str(verify(source).report.verdict),
            "slow_puts": self.slow,
            "slowest_put_s": round(self.slowest_s, 3),
        }
        print(json.dumps(what), flush=True)


def begun(name: str) -> tuple[Ride, int]:
    """A ride under way, and what is safe of it."""
    ride = Ride(name)
    ride.put()
    if not ride.journal.flush(PATIENCE_S):
        raise SystemExit(f"{name}: {ride.journal.health()}")
    return ride, ride.journal.acknowledged.sequence


def stalls(disk: MappedDisk) -> None:
    ride, safe = begun("stalls")
    disk.stalls()
    begin_s = time.monotonic()
    for _ in range(5):
        ride.put(2)
        ride.journal.flush(PATIENCE_S)
    took_s = time.monotonic() - begin_s
    disk.is_well()
    ride.told("stalls", f"five commits took over 2.5 s: {took_s > 2.5}", safe)


def is_full(_disk: MappedDisk) -> None:
    ride, safe = begun("full")
    ballast = CARD / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass
    while not isinstance(ride.journal.health().value, Missing) and ride.number < 2000:
        ride.put()
        ride.journal.flush(0.2)
    trouble = ride.trouble()
    ballast.unlink()
    ride.told("disk full", trouble, safe)


def is_removed(_disk: MappedDisk) -> None:
    ride, _ = begun("removed")
    shutil.rmtree(ride.root)
    ride.put(1)
    trouble = ride.trouble()
    ride.put()
    ride.told("folder removed", trouble, 0)


def is_forbidden(_disk: MappedDisk) -> None:
    """The unit is not root here, so that a mode counts; the folder is its own."""
    root = CARD / "forbidden"
    root.mkdir()
    (CARD / "forbidden.key").write_text("ab" * 32)
    for path in (root, CARD / "forbidden.key"):
        os.chown(path, NOBODY, NOBODY)
    codecs.lookup("ascii")  # what is not loaded yet is closed to nobody
    os.seteuid(NOBODY)
    ride, safe = begun("forbidden")
    root.chmod(0)
    ride.put()
    trouble = ride.trouble()
    root.chmod(0o755)
    ride.put()
    ride.told("permissions changed", trouble, safe)
    os.seteuid(0)


def is_read_only(_disk: MappedDisk) -> None:
    """Nobody can make the disk read-only as long as the journal's file is open: the kernel says
    EBUSY. The emergency remount (SysRq, U) asks no file, and an fsync of ext4 then answers 0."""
    writer.QUEUE_RECORDS = ROOM_RECORDS
    ride, _ = begun("read-only")
    asked = subprocess.run(["mount", "-o", "remount,ro", CARD], check=False, capture_output=True)
    ride.put()
    was_kept = ride.journal.flush(PATIENCE_S)
    safe = ride.journal.acknowledged.sequence
    Path("/proc/sysrq-trigger").write_text("u")
    assert ride.waits(lambda: bool(os.statvfs(CARD).f_flag & os.ST_RDONLY))
    ride.put()
    trouble = ride.trouble()
    assert ride.journal.acknowledged.sequence == safe
    ride.put(MORE_RECORDS)
    ask("mount", "-o", "remount,rw", str(CARD))
    is_busy = b"busy" in asked.stderr
    ride.told("read-only", f"busy: {is_busy}, kept: {was_kept}; {trouble}", safe)


def fails(disk: MappedDisk, fault: str = "EIO") -> None:
    """ext4 gives the disk up: what was safe is there at the next start, and that goes on."""
    ride, safe = begun(fault)
    disk.fails()
    ride.put()
    trouble = ride.trouble()
    is_closed = ride.journal.close(ride.clock.mono_s(), timeout_s=2.0)
    disk.is_well()
    disk.start_again()
    again = Journal(ride.root, Start("sled-7", "0.1.0"), Clock(from_zero=True))
    again.open()
    again.put(Finding("350.10(1)(gm)", Verdict.UNKNOWN, "next", value=float(ride.number + 1)), 1.0)
    ride.number += 1
    assert again.flush(PATIENCE_S)
    assert again.close(2.0, timeout_s=PATIENCE_S)
    ride.say(fault, trouble, safe, is_closed=is_closed)


def fails_and_stays_read_only(disk: MappedDisk) -> None:
    """As `fails`, on a disk that is mounted as Debian does: with errors=remount-ro."""
    ask("mount", "-o", "remount,errors=remount-ro", str(CARD))
    fails(disk, "EIO, remount-ro")


FAULTS = (
    stalls, is_full, is_removed, is_forbidden, is_read_only, fails, fails_and_stays_read_only,
)  # fmt: skip


def main() -> None:
    disk = MappedDisk()
    for fault in FAULTS:
        if not sys.argv[1:] or fault.__name__ in sys.argv[1:]:
            fault(disk)


if __name__ == "__main__":
    main()
