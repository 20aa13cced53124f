"""`sledwarden download`: what is new comes, whatever the cable does, and nothing is undone."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import threading
from pathlib import Path
from typing import Any

import download_rig
import pytest
from download_rig import CUTS, SHUT, Seen, fetch, newest, stamps, tree
from journal_samples import START, journal_in, put_all, ride, torn, written
from port_rig import Rig

from firmware.clock import Clock, ManualClock
from firmware.journal import seal, succession
from firmware.journal.proof import Verdict
from firmware.journal.writer import Journal
from firmware.port.hosts import HostKey, words_of
from host_tools.journals.archive import Archive, ArchiveError, read_unit
from host_tools.port.contact import Contact
from host_tools.port.fetching import Download, Watcher
from host_tools.port.messages import Identity
from host_tools.port.sled import LostError, RefusedError, Sled, Way

template, rig = download_rig.template, download_rig.rig

# What comes.


def test_all_segments_come_and_the_unit_stays_as_it_was(rig: Rig, tmp_path: Path) -> None:
    before = stamps(tmp_path / "journal")
    result = fetch(rig, tmp_path / "rides")
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")
    assert stamps(tmp_path / "journal") == before
    assert (result.segments, result.here, result.growing) == (3, 0, [])
    assert result.bytes == sum(map(len, tree(tmp_path / "journal").values()))
    assert succession.check(tmp_path / "rides" / "sled-7").verdict is Verdict.WHOLE


def test_unit_json_keeps_the_key_first_seen_and_the_last_head(rig: Rig, tmp_path: Path) -> None:
    result = fetch(rig, tmp_path / "rides")
    known = read_unit(tmp_path / "rides" / "sled-7" / "unit.json")
    report = succession.check(tmp_path / "journal")
    assert (known.unit, known.public_key) == ("sled-7", report.public_key)
    assert known.fingerprint == seal.fingerprint(report.public_key) == result.identity.fingerprint
    assert known.first_seen == known.last_download
    assert {name: (one.bytes, one.sha256, one.closed) for name, one in known.segments.items()} == {
        name: (len(content), hashlib.sha256(content).hexdigest(), True)
        for name, content in tree(tmp_path / "journal").items()
    }


def test_only_what_is_new_comes(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    carried = rig.port.carried
    result = fetch(rig, tmp_path / "rides")
    assert (result.segments, result.bytes, result.here) == (0, 0, 3)
    assert rig.port.carried - carried < 4000
    written(tmp_path / "journal", 20)
    result = fetch(rig, tmp_path / "rides")
    assert (result.segments, result.here) == (1, 3)
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_udp_brings_the_same(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    host = f"127.0.{os.getpid() % 250}.79"
    with Rig(tmp_path / "journal", (host, 1338)) as rig:
        rig.open()
        Download(Contact(Way(host=host, udp=1338)), tmp_path / "rides").run()
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_every_byte_value_comes_through(tmp_path: Path) -> None:
    # A binary file once could not be fetched at all by another tool (scientifichackers/ampy#83)
    attached = [("all.bin", bytes(range(256)) * 4)]
    journal = Journal(tmp_path / "journal", START, ManualClock(100.0), attachments=attached)
    journal.open()
    put_all(journal, ride(10))
    assert journal.close(101.0, timeout_s=60.0)
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        fetch(rig, tmp_path / "rides")
    (content,) = tree(tmp_path / "rides" / "sled-7").values()
    assert content == newest(tmp_path).read_bytes()
    assert attached[0][1] in content


def test_a_segment_that_grows_comes_as_far_as_it_is_safe_and_goes_on_next_time(
    tmp_path: Path,
) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    with Rig(tmp_path / "journal") as rig:
        put_all(journal, ride(300))
        rig.open()
        result = fetch(rig, tmp_path / "rides")
        name = f"{newest(tmp_path).parent.name}/000001.mcap"
        assert result.growing == [name]
        head = (tmp_path / "rides" / "sled-7" / name).read_bytes()
        assert newest(tmp_path).read_bytes().startswith(head)
        assert not read_unit(tmp_path / "rides/sled-7/unit.json").segments[name].closed
        assert succession.check(tmp_path / "rides" / "sled-7").verdict is Verdict.POWER_CUT

        put_all(journal, ride(300, 130.0))
        carried = rig.port.carried
        result = fetch(rig, tmp_path / "rides")
        assert result.growing == [name]
        longer = (tmp_path / "rides" / "sled-7" / name).read_bytes()
        assert len(longer) > len(head)
        assert longer.startswith(head)

        assert journal.close(160.0, timeout_s=60.0)
        result = fetch(rig, tmp_path / "rides")
        assert (result.segments, result.growing) == (1, [])
        assert result.bytes == newest(tmp_path).stat().st_size - len(longer)
        assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")
        assert rig.port.carried - carried < newest(tmp_path).stat().st_size
    assert succession.check(tmp_path / "rides" / "sled-7").verdict is Verdict.WHOLE


def test_a_torn_segment_that_the_next_start_finished_goes_on(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 300)
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        fetch(rig, tmp_path / "rides")
        (name,) = tree(tmp_path / "rides" / "sled-7")
        head = tree(tmp_path / "rides" / "sled-7")[name]
        written(tmp_path / "journal", 10)  # finishes the torn one first
        fetch(rig, tmp_path / "rides")
    got = tree(tmp_path / "rides" / "sled-7")
    assert got == tree(tmp_path / "journal")
    assert got[name].startswith(head)


# The cable.


def test_a_cable_pulled_at_a_hundred_random_bytes_costs_nothing(rig: Rig, tmp_path: Path) -> None:
    whole = tree(tmp_path / "journal")
    fetch(rig, tmp_path / "rides" / "uncut")
    total, chance = rig.port.carried, random.Random(4)
    resumed = 0
    for number in range(CUTS):
        into = tmp_path / "rides" / str(number)
        rig.port.carried, rig.port.cut_after = 0, chance.randrange(1, total)
        with pytest.raises(LostError) as lost:
            fetch(rig, into)
        assert str(lost.value).startswith(f"{rig.port.port}: ")
        here = sum(map(len, tree(into).values()))
        rig.wait(lambda: Path(rig.port.port).exists())
        result = fetch(rig, into)
        assert tree(into / "sled-7") == whole
        assert result.bytes == sum(map(len, whole.values())) - here
        resumed += here > 0
    assert resumed > CUTS // 3


def test_a_cable_that_is_pulled_again_and_again_is_gone_through_in_one_go(
    rig: Rig, tmp_path: Path
) -> None:
    chance, watcher = random.Random(5), Seen()

    class Worn(Watcher):
        """Has the cable fall out again after each time that it was plugged in."""

        def lost(self, fault: LostError, left_s: float) -> None:
            watcher.lost(fault, left_s)
            if len(watcher.lost_for) < 8:
                rig.port.carried, rig.port.cut_after = 0, chance.randrange(2000, 20_000)

        def came(self, count: int) -> None:
            watcher.came(count)

    rig.port.carried, rig.port.cut_after = 0, 6000
    result = fetch(rig, tmp_path / "rides", watcher=Worn(), wait_s=20.0)
    whole = tree(tmp_path / "journal")
    assert tree(tmp_path / "rides" / "sled-7") == whole
    assert result.bytes == watcher.bytes == sum(map(len, whole.values()))
    assert len(watcher.lost_for) >= 3


def test_a_cable_that_stays_out_is_told_in_one_sentence(rig: Rig, tmp_path: Path) -> None:
    rig.is_plugged_again = False
    rig.port.cut_after = rig.port.carried + 5000
    with pytest.raises(LostError) as lost:
        fetch(rig, tmp_path / "rides", wait_s=0.3)
    assert str(lost.value) == (
        f"{rig.port.port}: can't be opened. Is the cable in, and does no other program hold the "
        "port?"
    )


def test_another_unit_at_the_cable_s_other_end_is_refused(rig: Rig, tmp_path: Path) -> None:
    class Swapped(Watcher):
        def lost(self, fault: LostError, left_s: float) -> None:
            rig.server._unit = "sled-8"

    rig.port.carried, rig.port.cut_after = 0, 6000
    with pytest.raises(RefusedError) as refused:
        fetch(rig, tmp_path / "rides", watcher=Swapped(), wait_s=10.0)
    assert "is now unit sled-8: it was sled-7 before the cable was pulled." in str(refused.value)


def test_what_is_left_of_a_broken_try_is_checked_before_it_is_used(
    rig: Rig, tmp_path: Path
) -> None:
    path = newest(tmp_path)
    part = tmp_path / "rides" / "sled-7" / path.parent.name / "000001.mcap.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(3000))  # as a desk that lost its power leaves it
    result = fetch(rig, tmp_path / "rides")
    assert result.bytes == sum(map(len, tree(tmp_path / "journal").values()))
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")
    part.write_bytes(path.read_bytes() + b"more than there is")
    (tmp_path / "rides" / "sled-7" / path.parent.name / "000001.mcap").unlink()
    fetch(rig, tmp_path / "rides")
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_a_link_in_the_archive_leads_no_byte_out_of_it(rig: Rig, tmp_path: Path) -> None:
    """An archive may have come from a stranger, and so may the unit."""
    fetch(rig, tmp_path / "rides")
    files = sorted((tmp_path / "rides" / "sled-7").glob("*/*.mcap*"))
    outside = tmp_path / "outside"
    outside.mkdir()
    for number, path in enumerate(files):
        path.unlink()
        for name in (f"{path.name}.part", f"{path.name}.part.new"):
            (outside / f"{number}{name}").write_text("mine")
            path.with_name(name).symlink_to(outside / f"{number}{name}")
    kept = tmp_path / "rides" / "sled-7" / "unit.json"
    kept.rename(outside / "unit.json")
    kept.symlink_to(outside / "unit.json")
    before = tree(outside)
    fetch(rig, tmp_path / "rides")
    assert tree(outside) == before
    assert all(path.is_file() and not path.is_symlink() for path in files)


def test_a_boot_s_folder_that_is_a_link_is_refused(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    boot = tmp_path / "rides" / "sled-7" / newest(tmp_path).parent.name
    outside = tmp_path / "outside"
    boot.rename(outside)
    boot.symlink_to(outside)
    for path in outside.iterdir():
        path.unlink()
    with pytest.raises(ArchiveError, match="is a link: what is downloaded stays in its archive"):
        fetch(rig, tmp_path / "rides")
    assert tree(outside) == {}


def test_a_file_that_is_gone_from_the_archive_comes_again(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    path = newest(tmp_path)
    (tmp_path / "rides" / "sled-7" / path.parent.name / "000001.mcap").unlink()
    assert fetch(rig, tmp_path / "rides").segments == 1
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_a_wrong_digest_is_fetched_anew_and_then_told(rig: Rig, tmp_path: Path) -> None:
    shelf = rig.server._shelf
    path = newest(tmp_path)
    listed = shelf._listing.one(path.parent.name, path.name)
    assert listed is not None
    shelf._digests[path] = (listed.stamp, "ab" * 32)  # a card that reads otherwise each time
    with pytest.raises(ArchiveError) as wrong:
        fetch(rig, tmp_path / "rides")
    assert (
        f"{path.parent.name}/000001.mcap does not have the SHA-256 that the unit says, 2 times"
        in str(wrong.value)
    )
    assert f"{path.parent.name}/000001.mcap" not in tree(tmp_path / "rides" / "sled-7")


# The archive's disk.


def test_a_full_disk_is_one_sentence_and_it_goes_on_later(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sorted((tmp_path / "journal").glob("*/*.mcap"))[1]
    part = tmp_path / "rides" / "sled-7" / path.parent.name / "000001.mcap.part"
    opened = Path.open

    def on_a_full_disk(path: Path, *how: Any) -> Any:
        return opened(Path("/dev/full") if path == part else path, *how)

    monkeypatch.setattr(Path, "open", on_a_full_disk)
    with pytest.raises(ArchiveError) as full:
        fetch(rig, tmp_path / "rides")
    assert str(full.value) == (
        f"{part}: the disk is full. Make room, then run it again: it goes on where it was."
    )
    monkeypatch.setattr(Path, "open", opened)
    assert fetch(rig, tmp_path / "rides").segments == 2
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_a_folder_that_must_not_be_written_is_one_sentence(rig: Rig) -> None:
    with pytest.raises(ArchiveError) as told:
        fetch(rig, Path("/sys/sledwarden-rides"))
    assert str(told.value) == (
        "/sys/sledwarden-rides/sled-7: must not be written. Give another folder with --into."
    )


def test_two_downloads_into_one_archive_are_kept_apart(rig: Rig, tmp_path: Path) -> None:
    told: list[str] = []

    class Second(Watcher):
        def planned(self, wanted: object, here: int) -> None:
            with pytest.raises(ArchiveError) as busy:
                Archive(tmp_path / "rides", Identity("sled-7"), Clock().system_utc())
            told.append(str(busy.value))

    fetch(rig, tmp_path / "rides", watcher=Second())
    assert told == [
        f"{tmp_path}/rides/sled-7: another download is under way there. Let it end first."
    ]


# Getting in.


def test_the_glass_asks_and_a_hold_lets_it_in(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Rig(tmp_path / "journal") as rig:
        seen = Seen()
        timer = threading.Thread(
            target=lambda: (rig.wait(lambda: rig.rider.prompt != ""), rig.rider.hold())
        )
        timer.start()
        result = fetch(rig, tmp_path / "rides", watcher=seen, hold_s=10.0)
        timer.join()
        assert result.segments == 3
        assert set(seen.opened) == {SHUT}


def test_nobody_at_the_button_is_told_in_words(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Rig(tmp_path / "journal") as rig:
        with pytest.raises(RefusedError) as shut:
            fetch(rig, tmp_path / "rides")
        assert str(shut.value) == f"{rig.port.port}: {SHUT}"
        rig.rider.ride(30.0)
        rig.wait(lambda: "moves" in rig.refusal())
        with pytest.raises(RefusedError) as moving:
            fetch(rig, tmp_path / "rides")
        assert "the sled moves, or can't tell that it stands" in str(moving.value)
    assert not (tmp_path / "rides").exists()


def test_a_ride_in_the_middle_ends_it_and_it_goes_on_at_the_next_stop(
    rig: Rig, tmp_path: Path
) -> None:
    class Off(Watcher):
        def came(self, count: int) -> None:
            if rig.rider.is_standing:
                rig.rider.ride(30.0)
                rig.wait(lambda: "moves" in rig.refusal())

    with pytest.raises(RefusedError) as told:
        fetch(rig, tmp_path / "rides", watcher=Off())
    assert "the sled moves" in str(told.value)
    assert tree(tmp_path / "rides")
    rig.rider.ride(0.0)
    rig.wait(lambda: "moves" not in rig.refusal())
    rig.open()
    fetch(rig, tmp_path / "rides")
    assert tree(tmp_path / "rides" / "sled-7") == tree(tmp_path / "journal")


def test_an_enrolled_computer_needs_no_button(rig: Rig, tmp_path: Path) -> None:
    key = HostKey.make(tmp_path / "host.key")
    with Sled(Way(rig.port.port)) as sled:
        unit_key = sled.identity().key.hex()
        assert sled.enroll(key, "desk", unit_key) == words_of(key.public)
        rig.wait(lambda: rig.rider.prompt != "")
        assert sled.session(key).enrolled is False
        rig.rider.hold()
        rig.wait(lambda: sled.session(key).enrolled)
    rig.clock.shift_s += 600.0
    rig.wait(lambda: rig.refusal() == SHUT)
    again = HostKey.load(tmp_path / "host.key")
    assert again is not None
    assert fetch(rig, tmp_path / "rides", key=again).segments == 3


def test_nobody_at_the_other_end_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(LostError) as lost:
        Download(Contact(Way(str(tmp_path / "no-port")), wait_s=0), tmp_path).run()
    assert str(lost.value).endswith(
        "no-port: can't be opened. Is the cable in, and does no other program hold the port?"
    )
