"""The real kernel's disk faults in mid-ride: told, none delays a put, nothing safe is lost.

In the virtual machine of test_power_cut.py, on a device-mapper disk: one run for all faults.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from powercut import machine
from powercut.disk import VolatileDisk

FAULTS = machine.ROOT / "tests" / "powercut" / "faults.py"

_LACKS = machine.missing() or ("" if shutil.which("dmsetup") else "needs dmsetup")
pytestmark = [pytest.mark.skipif(bool(_LACKS), reason=_LACKS), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the guest said of each fault, by its name."""
    folder = tmp_path_factory.mktemp("faults")
    disk = VolatileDisk(machine.empty_disk(folder))
    printed = machine.run(disk, FAULTS, [], folder, mappers=("dm_flakey", "dm_delay"))
    assert "the guest's program ended with 0" in printed, printed
    found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {one["fault"]: one for one in found}


WANTED = [
    ("stalls", "five commits took over 2.5 s: True", ("whole",)),
    ("disk full", "disk full", ("whole",)),
    ("folder removed", "folder has vanished", ("incomplete",)),
    ("permissions changed", "folder not writable", ("whole",)),
    ("read-only", "busy: True, kept: True; disk is read-only", ("whole",)),
    ("EIO", "disk error", ("power-cut",)),
    ("EIO, remount-ro", "disk error", ("power-cut",)),
]


@pytest.mark.parametrize(("fault", "trouble", "verdicts"), WANTED)
def test_a_fault_of_the_disk_is_told_and_loses_nothing_that_was_safe(
    told: dict[str, dict[str, Any]], fault: str, trouble: str, verdicts: tuple[str, ...]
) -> None:
    one = told[fault]
    assert one["trouble"] == trouble
    assert one["lost_safe"] == []
    assert one["verdict"] in verdicts
    assert one["put"] > one["safe"]


@pytest.mark.parametrize("fault", ["stalls", "disk full", "permissions changed", "read-only"])
def test_a_disk_that_comes_back_gets_all_that_waited(
    told: dict[str, dict[str, Any]], fault: str
) -> None:
    assert (told[fault]["lost"], told[fault]["is_closed"]) == (0, True)


def test_what_found_no_room_while_the_disk_was_read_only_stands_as_a_gap(
    told: dict[str, dict[str, Any]],
) -> None:
    """The kernel itself says nothing: the fsync of ext4 answers 0 on a disk that was remounted."""
    assert told["read-only"]["gaps"] == ["disk is read-only"]
    assert told["read-only"]["safe"] == 20  # and nothing more was acknowledged


def test_what_went_with_the_folder_is_all_that_is_gone(told: dict[str, dict[str, Any]]) -> None:
    assert (told["folder removed"]["lost"], told["folder removed"]["is_closed"]) == (10, True)


def test_a_ride_that_ends_while_the_disk_fails_says_that_it_is_not_safe(
    told: dict[str, dict[str, Any]],
) -> None:
    assert not told["EIO"]["is_closed"]
    assert not told["EIO, remount-ro"]["is_closed"]


@pytest.mark.parametrize("fault", [fault for fault, *_ in WANTED])
def test_no_put_waits_for_a_disk(told: dict[str, dict[str, Any]], fault: str) -> None:
    """Each would, not one in ten: the emulated machine itself may stand still now and then."""
    assert told[fault]["slow_puts"] <= told[fault]["put"] // 10
