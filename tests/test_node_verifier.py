"""Two verifiers, one format: ours, and one in Node.js written from docs/journal.md alone."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from journal_samples import DAY, START, journal_in, put_all, ride, torn, written
from rides import NIGHT, journal_of

from firmware.journal.folder import LEDGER, Storage
from firmware.journal.keeper import Keeper
from firmware.journal.ledger import BootLine, KeyLine, Writer
from firmware.journal.seal import Key
from firmware.journal.writer import ROLL_S

TESTS = Path(__file__).parent
NODE = ["node", str(TESTS / "node" / "verify.mjs")]
OURS = Path(sys.executable).with_name("sledwarden")
SAMPLES = TESTS / "data" / "journal"
SEED = 20260117
SECTOR = 512
CHUNK, INDEX, DATA_END = 6, 7, 15

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="node is not installed (apt-get install nodejs)"
)


def _run(words: list[str], paths: list[Path]) -> list[tuple[str, dict[str, str]]]:
    done = subprocess.run(
        [*words, "--json", *map(str, paths)], capture_output=True, text=True, check=False
    )
    told: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(paths), done.stderr
    good = all(one["verdict"] in ("whole", "power-cut") for one in told)
    assert done.returncode == (0 if good else 1), done.stderr
    return [
        (one["verdict"], {row["name"]: row["verdict"] for row in one["segments"]}) for one in told
    ]


def _records(words: list[str], path: Path) -> dict[str, int]:
    done = subprocess.run(
        [*words, "--json", str(path)], capture_output=True, text=True, check=False
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return {row["name"]: row["records"] for row in told["segments"]}


def _both(
    paths: list[Path], *, key: Path | None = None, zstd: str = "zstd"
) -> list[tuple[str, dict[str, str]]]:
    """What both verifiers say of each of these, once they agree on every segment of it."""
    with_key = ["--key", str(key)] if key is not None else []
    ours = _run([str(OURS), "verify", *with_key], paths)
    theirs = _run([*NODE, "--zstd", zstd, *with_key], paths)
    for path, our, their in zip(paths, ours, theirs, strict=True):
        assert their == our, path
    return ours


def _verdicts(paths: list[Path], *, key: Path | None = None) -> dict[str, str]:
    """The verdict of each case by its name, the folder that its journal is in."""
    return {
        path.parent.name: told[0] for path, told in zip(paths, _both(paths, key=key), strict=True)
    }


def _store(journal: Path, forget: int = 0) -> None:
    """Stores the closed segments, as the unit does beside its ride, and deletes that boot."""
    keeper = Keeper(journal, START.unit)
    keeper.begin(Key.load(journal.with_name("journal.key")))
    keeper.forget(forget, None, "dash", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)


def _new_key(journal: Path) -> Key:
    """Gives the unit a new key, as its owner does, with the old one's line in the ledger."""
    path = journal.with_name("journal.key")
    old = Key.load(path)
    path.unlink()
    new = Key.load(path)
    _add_line(journal, KeyLine(unit=START.unit, new_key=new.public, by="dash"), old)
    return new


def _add_line(journal: Path, line: BootLine | KeyLine, key: Key) -> None:
    writer = Writer(journal / LEDGER, START.unit, Storage())
    writer.open()
    writer.add(line, key)
    writer.close()


def _last(journal: Path) -> Path:
    return sorted(journal.glob("*/*.mcap*"))[-1]


def _boot(number: int) -> BootLine:
    name, digest = f"{number:032x}", "ab" * 32
    return BootLine(
        unit=START.unit, boot=number, boot_id=name, segment=1, software="0.1.0", digest=digest
    )


def _first(journal: Path) -> Path:
    return min(journal.glob("*/*.mcap*"))


def _sealed(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompress(content)
    return content


def _put(path: Path, content: bytes) -> None:
    if path.suffix == ".zst":
        content = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    path.write_bytes(content)


def _chunks(content: bytes) -> list[tuple[int, int]]:
    """Where each chunk with its indexes begins and ends, and the ending at last if it is there."""
    found: list[tuple[int, int]] = []
    at = 8
    while at + 9 <= len(content):
        opcode, length = struct.unpack_from("<BQ", content, at)
        end = at + 9 + length
        if end > len(content) or opcode == DATA_END:
            break
        if opcode == CHUNK:
            found.append((at, end))
        elif opcode == INDEX:
            found[-1] = found[-1][0], end
        at = end
    return found


class Cases:
    """Copies of one journal, each in a folder named for what was done to it."""

    def __init__(self, folder: Path, journal: Path) -> None:
        self.folder, self.journal = folder, journal
        self.paths: list[Path] = []
        self.content = _sealed(_last(journal))

    def copy(self, name: str) -> Path:
        path = self.folder / name / "journal"
        shutil.copytree(self.journal, path)
        self.paths.append(path)
        return path

    def with_last(self, name: str, content: bytes) -> None:
        """The same journal, with other sealed bytes in its newest segment."""
        _put(_last(self.copy(name)), content)

    def with_ledger(self, name: str, content: bytes) -> None:
        (self.copy(name) / LEDGER).write_bytes(content)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two boots, closed; the second has five seals."""
    journal = tmp_path_factory.mktemp("whole") / "journal"
    written(journal, 30)
    written(journal, 130)
    return journal


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One boot that a power cut ended, twelve seconds in."""
    journal = tmp_path_factory.mktemp("cut") / "journal"
    torn(journal, 120)
    return journal


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three boots, all stored, all in the ledger."""
    journal = tmp_path_factory.mktemp("stored") / "journal"
    for count in (30, 60, 30):
        written(journal, count)
    _store(journal)
    return journal


@pytest.fixture(scope="module")
def rolled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments in one boot."""
    path = tmp_path_factory.mktemp("rolled") / "journal"
    journal = journal_in(path)
    journal.open()
    for number in range(3):
        later_s = number * ROLL_S
        put_all(journal, ride(12, from_s=100.0 + later_s, utc=DAY + timedelta(seconds=later_s)))
    assert journal.close(102.0 + 2 * ROLL_S, timeout_s=60.0)
    assert len(list(path.glob("*/*.mcap"))) == 3
    return path


@pytest.mark.parametrize("name", ["first", "stored", "again"])
def test_the_journals_of_past_versions_are_what_they_prove(name: str) -> None:
    told = json.loads((SAMPLES / "expected.json").read_text())[name]
    rows = {one["name"]: one["verdict"] for one in told["segments"]}
    assert _both([SAMPLES / name / "journal"]) == [(told["verdict"], rows)]


def test_a_rides_journal_is_whole_to_both(tmp_path: Path) -> None:
    journal = journal_of(NIGHT, tmp_path / "journal")
    assert [verdict for verdict, _ in _both([journal])] == ["whole"]


def test_what_node_cannot_unpack_is_held_against_the_ledger(stored: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "no-such-zstd")
    assert [verdict for verdict, _ in _both([stored], zstd=missing)] == ["whole"]
    cases = Cases(tmp_path, stored)
    other = bytearray(_last(stored).read_bytes())
    other[-1] ^= 1
    _last(cases.copy("digest")).write_bytes(other)
    assert [verdict for verdict, _ in _both(cases.paths, zstd=missing)] == ["tampered"]


def test_a_cut_at_any_place_after_the_first_seal_is_a_power_cut(cut: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, cut)
    chunks = _chunks(cases.content)
    first_end = chunks[0][1]
    (sealed_at, end), *_ = chunks[1:]
    index_at = sealed_at + 9 + struct.unpack_from("<Q", cases.content, sealed_at + 1)[0]
    for length in (index_at, index_at + 1, index_at + 12, end - 1, end):
        cases.with_last(f"at-{length}", cases.content[:length])
    for start, end in chunks[2:]:
        for length in (start + 5, (start + end) // 2, end - 1, end):
            cases.with_last(f"at-{length}", cases.content[:length])
    assert set(_verdicts(cases.paths).values()) == {"power-cut"}
    early = Cases(tmp_path / "early", cut)
    for length in (0, 7, 8, 20, 100, first_end // 2, sealed_at + 5, index_at - 1):
        early.with_last(f"at-{length}", early.content[:length])
    assert set(_verdicts(early.paths).values()) == {"unreadable"}


def test_records_are_counted_under_a_seal_and_no_further(cut: Path, tmp_path: Path) -> None:
    """The start record stands before the first seal; what follows the last seal counts nowhere."""
    cases = Cases(tmp_path, cut)
    cases.with_last("first", cases.content[: _chunks(cases.content)[2][1]])
    first, whole = cases.paths[0], cut
    for words in ([str(OURS), "verify"], NODE):
        assert [*_records(words, first).values()] == [1]
    assert _records([str(OURS), "verify"], whole) == _records(NODE, whole)


def test_the_number_of_a_file_is_that_of_its_seals(rolled: Path, tmp_path: Path) -> None:
    path = _last(Cases(tmp_path, rolled).copy("renamed"))
    path.rename(path.with_name("000004.mcap"))
    assert _verdicts([tmp_path / "renamed" / "journal"]) == {"renamed": "tampered"}


def test_a_sector_that_the_first_commit_lost_is_no_tampering(cut: Path, tmp_path: Path) -> None:
    """Its seal says that nothing was safe yet; a later seal says that it was."""
    cases = Cases(tmp_path, cut)
    start, end = _chunks(cases.content)[0]
    at = (start // SECTOR + 2) * SECTOR
    assert at + SECTOR < end
    lost = cases.content[:at] + bytes(SECTOR) + cases.content[at + SECTOR :]
    cases.with_last("first", lost[: _chunks(cases.content)[1][1]])
    cases.with_last("later", lost)
    cases.with_last("ended", cases.content[:end] + cases.content[:8])  # the magic is the last bytes
    assert _verdicts(cases.paths) == {
        "first": "unreadable", "later": "tampered", "ended": "tampered",
    }  # fmt: skip


def test_an_ending_that_is_cut_or_has_lost_sectors_is_a_power_cut(
    whole: Path, tmp_path: Path
) -> None:
    cases = Cases(tmp_path, whole)
    begin, size = _chunks(cases.content)[-1][1], len(cases.content)
    for length in (begin, begin + 1, begin + 13, (begin + size) // 2, size - 8, size - 1):
        cases.with_last(f"cut-{length}", cases.content[:length])
    sectors = range((begin // SECTOR + 1) * SECTOR, size, SECTOR)
    for at in [*sectors][:: max(1, len(sectors) // 6)]:
        lost = bytes(min(SECTOR, size - at))
        cases.with_last(f"lost-{at}", cases.content[:at] + lost + cases.content[at + SECTOR :])
    assert set(_verdicts(cases.paths).values()) == {"power-cut"}
    changed = Cases(tmp_path / "changed", whole)
    changed.with_last("longer", cases.content + b"\0")
    changed.with_last("half", cases.content[:-300] + bytes(100) + cases.content[-200:])
    assert set(_verdicts(changed.paths).values()) == {"tampered"}


def test_a_segment_that_the_next_start_finished_is_a_power_cut(cut: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, cut)
    for length in (len(cases.content), len(cases.content) - 700, _chunks(cases.content)[2][0] + 9):
        cases.with_last(f"at-{length}", cases.content[:length])
        shutil.copy(cut.with_name("journal.key"), cases.paths[-1].with_name("journal.key"))
        written(cases.paths[-1], 12)
    told = _both(cases.paths)
    assert [verdict for verdict, _ in told] == ["power-cut"] * 3
    assert [sorted(rows.values()) for _, rows in told] == [["power-cut", "whole"]] * 3


def test_a_changed_byte_of_a_closed_segment_is_tampering(whole: Path, tmp_path: Path) -> None:
    chance, cases = random.Random(SEED), Cases(tmp_path, whole)
    for at in sorted(chance.sample(range(len(cases.content)), 20)):
        changed = bytearray(cases.content)
        changed[at] ^= 1 << chance.randrange(8)
        cases.with_last(f"byte-{at}", changed)
    assert set(_verdicts(cases.paths).values()) == {"tampered"}


def test_a_changed_byte_of_a_cut_segment_is_what_both_say_it_is(cut: Path, tmp_path: Path) -> None:
    """Tampering where a later seal covers it; after the last seal it reads as the cut itself."""
    chance, cases = random.Random(SEED + 1), Cases(tmp_path, cut)
    last_seal = cases.content.rindex(b'{"format":1,"kind":"')
    places = [*chance.sample(range(last_seal), 16), last_seal + 2000, len(cases.content) - 3]
    for at in places:
        changed = bytearray(cases.content)
        changed[at] ^= 1 << chance.randrange(8)
        cases.with_last(f"byte-{at}", changed)
    told = _verdicts(cases.paths)
    durable = int(cases.content[last_seal:].split(b'"durable":', 1)[1].split(b",", 1)[0])
    for name, verdict in told.items():
        if int(name.removeprefix("byte-")) < durable:
            assert verdict == "tampered", name
    assert told[f"byte-{last_seal + 2000}"] == "power-cut"


def test_chunks_put_in_taken_out_or_moved_are_tampering(whole: Path, tmp_path: Path) -> None:
    cases, content = Cases(tmp_path, whole), Cases(tmp_path, whole).content
    chunks = _chunks(content)
    for number, (start, end) in [*enumerate(chunks)][:: len(chunks) // 6]:
        cases.with_last(f"deleted-{number}", content[:start] + content[end:])
        cases.with_last(f"doubled-{number}", content[:end] + content[start:end] + content[end:])
        cases.with_last(f"rubbish-{number}", content[:start] + b"\x06rubbish" + content[start:])
    for number in range(1, len(chunks) - 1, len(chunks) // 6):
        (start, middle), (_, end) = chunks[number], chunks[number + 1]
        moved = content[middle:end] + content[start:middle]
        cases.with_last(f"swapped-{number}", content[:start] + moved + content[end:])
    assert set(_verdicts(cases.paths).values()) == {"tampered"}


def test_a_segment_ended_after_an_earlier_seal_is_told_by_the_next(
    rolled: Path, tmp_path: Path
) -> None:
    cases = Cases(tmp_path, rolled)
    middle = sorted(cases.copy("middle").glob("*/*.mcap"))[1]
    content = middle.read_bytes()
    middle.write_bytes(content[: _chunks(content)[2][1]])
    last = sorted(cases.copy("last").glob("*/*.mcap"))[2]
    content = last.read_bytes()
    last.write_bytes(content[: _chunks(content)[2][1]])
    assert _verdicts(cases.paths) == {"middle": "tampered", "last": "power-cut"}


def test_a_changed_segment_makes_no_other_one_tampered(rolled: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, rolled)
    middle = sorted(cases.copy("middle").glob("*/*.mcap"))[1]
    content = bytearray(middle.read_bytes())
    content[_chunks(content)[3][0] + 60] ^= 1  # behind its first seals
    middle.write_bytes(content)
    ((verdict, rows),) = _both(cases.paths)
    assert verdict == "tampered"
    assert [rows[name] for name in sorted(rows)] == ["whole", "tampered", "whole"]


def test_a_segment_that_is_gone_is_missed_but_for_the_newest(rolled: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, rolled)
    for number, name in enumerate(("first", "middle", "newest")):
        sorted(cases.copy(name).glob("*/*.mcap"))[number].unlink()
    assert _verdicts(cases.paths) == {
        "first": "incomplete", "middle": "incomplete", "newest": "whole",
    }  # fmt: skip


def test_a_boots_folder_that_was_renamed_is_tampering(rolled: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, rolled)
    for name, other in (("number", "000007-{}"), ("id", "000001-01234567")):
        (boot,) = cases.copy(name).glob("0*")
        boot.rename(boot.with_name(other.format(boot.name.partition("-")[2])))
    assert _verdicts(cases.paths) == {"number": "tampered", "id": "tampered"}


def test_a_journal_sealed_anew_with_another_key_is_not_the_given_ones(
    whole: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "journal"
    other.parent.mkdir()
    written(other, 30)
    key = tmp_path / "key"
    key.write_text(Key.load(whole.with_name("journal.key")).public)
    assert _verdicts([other]) == {"other": "whole"}  # nothing in it says whose it is
    assert _verdicts([other], key=key) == {"other": "tampered"}
    assert _verdicts([whole], key=key) == {whole.parent.name: "whole"}
    cases = Cases(tmp_path, whole)
    longer = tmp_path / "longer" / "journal"
    longer.parent.mkdir()
    written(longer, 30)
    written(longer, 130)
    cases.with_last("replaced", _sealed(_last(longer)))
    assert _verdicts(cases.paths) == {"replaced": "tampered"}


def test_a_key_that_the_old_one_vouches_for_is_good_and_no_other(tmp_path: Path) -> None:
    journal = tmp_path / "vouched" / "journal"
    journal.parent.mkdir()
    written(journal, 30)
    old = Key.load(journal.with_name("journal.key"))
    _store(journal)
    new = _new_key(journal)
    written(journal, 30)
    _store(journal)
    told = {}
    for name, key in (("none", None), ("old", old), ("new", new), ("stranger", Key.make())):
        (tmp_path / name).write_text(key.public if key is not None else "")
        given = tmp_path / name if key is not None else None
        told[name] = _verdicts([journal], key=given)["vouched"]
    assert told == {"none": "whole", "old": "whole", "new": "whole", "stranger": "tampered"}
    (journal / LEDGER).unlink()
    assert _verdicts([journal]) == {"vouched": "tampered"}


def test_a_stored_journal_is_held_against_its_ledger(stored: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, stored)
    cases.copy("as-it-was")
    for number, name in enumerate(("first", "middle", "newest")):
        shutil.rmtree(sorted(cases.copy(f"{name}-gone").glob("0*"))[number])
    cases.with_last("packed-anew", _sealed(_last(stored)))
    cases.with_last("changed", _sealed(_last(stored))[:-1] + b"x")
    back = _last(cases.copy("sealed-form"))
    back.with_suffix("").write_bytes(_sealed(back))
    back.unlink()
    (cases.copy("no-ledger") / LEDGER).unlink()
    both = _last(cases.copy("both-forms"))
    both.with_suffix("").write_bytes(_sealed(both))
    both = _last(cases.copy("forms-differ"))
    both.with_suffix("").write_bytes(_sealed(both))
    _put(both, _sealed(both))
    assert _verdicts(cases.paths) == {
        "as-it-was": "whole",
        "first-gone": "incomplete",
        "middle-gone": "incomplete",
        "newest-gone": "incomplete",
        "packed-anew": "tampered",
        "changed": "tampered",
        "sealed-form": "whole",
        "no-ledger": "incomplete",
        "both-forms": "whole",
        "forms-differ": "tampered",
    }


def test_what_a_tombstone_tells_of_is_not_missed(stored: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, stored)
    for boot in (1, 2):
        journal = cases.copy(f"boot-{boot}")
        shutil.copy(stored.with_name("journal.key"), journal.with_name("journal.key"))
        _store(journal, forget=boot)
        assert len(list(journal.glob("*/*.mcap.zst"))) == 2
    assert _verdicts(cases.paths) == {"boot-1": "whole", "boot-2": "whole"}


def test_a_forged_ledger_is_tampering_and_a_short_one_is_incomplete(
    stored: Path, tmp_path: Path
) -> None:
    cases = Cases(tmp_path, stored)
    content = (stored / LEDGER).read_bytes()
    first, second, third = content.splitlines(keepends=True)
    cases.with_ledger("value", content.replace(b'"records":62', b'"records":61'))
    cases.with_ledger("deleted", first + third)
    cases.with_ledger("swapped", second + first + third)
    cases.with_ledger("doubled", first + second + second + third)
    cases.with_ledger("spaced", content.replace(b'"boot":2', b'"boot": 2'))
    cases.with_ledger("no-json", first + b"rubbish\n" + second + third)
    cases.with_ledger("long", first + b'{"kind":"' + b"x" * 4096 + b'"}\n' + second + third)
    cases.with_ledger("zeros", first + bytes(40) + second[40:] + third)
    other = tmp_path / "other-ledger"
    other.mkdir()
    for boot in (2, 3):  # good lines of the same key, with another history
        _add_line(other, _boot(boot), Key.load(stored.with_name("journal.key")))
    cases.with_ledger("spliced", first + (other / LEDGER).read_bytes().splitlines(True)[1])
    forged = cases.copy("forged")
    _add_line(forged, _boot(4), Key.make())
    assert set(_verdicts(cases.paths).values()) == {"tampered"}
    short = Cases(tmp_path / "short", stored)
    short.with_ledger("two-lines", first + second)
    short.with_ledger("torn", first + second + third[:70])
    short.with_ledger("torn-to-zeros", first + second + third[:70] + bytes(200) + b"\n")
    short.with_ledger("empty", b"")
    assert set(_verdicts(short.paths).values()) == {"incomplete"}
    whole = Cases(tmp_path / "whole", stored)
    whole.with_ledger("more", content + third[:70])
    whole.with_ledger("zeros", content + bytes(512))
    assert set(_verdicts(whole.paths).values()) == {"whole"}


def test_a_boot_that_the_ledger_tells_of_is_missed(stored: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, stored)
    _add_line(cases.copy("told"), _boot(4), Key.load(stored.with_name("journal.key")))
    ours = _run([str(OURS), "verify"], cases.paths)
    theirs = _run(NODE, cases.paths)
    assert ours[0][0] == theirs[0][0] == "incomplete"


def test_a_frame_that_is_not_the_formats_is_no_stored_segment(stored: Path, tmp_path: Path) -> None:
    """Without a ledger, which would tell of each of them."""
    cases = Cases(tmp_path, stored)
    raw, good = _sealed(_first(stored)), _first(stored).read_bytes()
    forms = {
        "good": good,
        "cut": good[:-5],
        "followed": good + b"more",
        "two-frames": good + good,
        "no-size": zstandard.ZstdCompressor(write_content_size=False).compress(raw),
        "no-frame": raw,
    }
    for name, content in forms.items():
        journal = cases.copy(name)
        (journal / LEDGER).unlink()
        for boot in sorted(journal.glob("0*"))[1:]:
            shutil.rmtree(boot)
        _first(journal).write_bytes(content)
    assert _verdicts(cases.paths) == {
        name: "incomplete" if name == "good" else "unreadable" for name in forms
    }


@pytest.mark.parametrize("place", ["seals", "ledger"])
def test_the_vectors_are_what_the_verifier_takes(place: str, tmp_path: Path) -> None:
    """A ledger made of the vectors' lines is good but for the boots, which are in no folder."""
    vectors = json.loads((SAMPLES / "vectors.json").read_text())
    journal = tmp_path / "vectors" / "journal"
    journal.mkdir(parents=True)
    if place == "seals":
        messages = [one["message"] for one in vectors["seals"]]
        (journal / "000001.mcap").write_text("".join(messages))
        # both seals are good: the file that they are in is not, so it is not merely unreadable
        assert _run(NODE, [journal])[0][0] == "tampered"
        (journal / "000001.mcap").write_text("".join(messages).replace('"boot":17', '"boot":18'))
        assert _run(NODE, [journal])[0][0] == "unreadable"
        return
    lines = "".join(one["line"] + "\n" for one in vectors["ledger"])
    (journal / LEDGER).write_text(lines)
    rows = {"boot 17": "incomplete", "boot 18": "incomplete"}
    assert _run(NODE, [journal]) == [("incomplete", rows)]
    (journal / LEDGER).write_text(lines.replace('"boot":18', '"boot":19'))
    assert _run(NODE, [journal])[0][0] == "tampered"
