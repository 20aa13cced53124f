"""What the seals prove: every change is told, a cut is told apart, and another key is not ours."""

from __future__ import annotations

import hashlib
import os
import random
import stat
from pathlib import Path

import msgspec
import pytest
from journal_samples import torn, written

from firmware.errors import JournalError
from firmware.journal import folder, proof, seal, segment, succession
from firmware.journal.proof import Verdict
from firmware.journal.seal import Key, Seal
from firmware.journal.segment import Message


def _only(path: Path) -> Path:
    (place,) = folder.segments(path)
    return place.path


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of one closed segment with several seals."""
    path = tmp_path_factory.mktemp("closed") / "journal"
    written(path, 120)
    return path


@pytest.fixture(scope="module")
def unclosed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of one segment that lacks its close."""
    path = tmp_path_factory.mktemp("unclosed") / "journal"
    torn(path, 120)
    return path


def test_a_closed_segment_is_whole(closed: Path) -> None:
    report = succession.check(closed)
    assert report.verdict is Verdict.WHOLE
    assert report.reasons == ()
    assert report.unit == "sled-7"
    assert not report.is_key_given
    (one,) = report.segments
    assert one.records == 122  # and the start and the close


def test_the_seals_come_at_start_at_events_each_ten_seconds_and_at_close(closed: Path) -> None:
    content = _only(closed).read_bytes()
    seals = [seal.parse(stamp.message.text) for stamp in segment.scan(content).seals]
    kinds = [one.kind for one in seals if one]
    assert kinds[0] == "start"
    assert kinds[-1] == "close"
    assert kinds.count("event") == 2
    assert [one.count for one in seals if one] == list(range(1, len(seals) + 1))


def test_a_stranger_can_follow_the_seals_from_the_document_alone(closed: Path) -> None:
    """Written from docs/journal.md, with neither our scanner nor our seal's type."""
    content = _only(closed).read_bytes()
    at, last, digest = 8, 0, bytes(32)
    count = 0
    while content[at] != 0x0F:
        length = int.from_bytes(content[at + 1 : at + 9], "little")
        if content[at] == 0x06:
            inner = at + 9 + 8 + 8 + 8 + 4 + 4 + 8
            is_seal = content[inner] == 0x05 and content[inner + 9 : inner + 11] == b"\x01\x00"
            if is_seal:
                size = int.from_bytes(content[inner + 1 : inner + 9], "little")
                text = content[inner + 31 : inner + 9 + size]
                told = msgspec.json.decode(text)
                stretch = hashlib.sha256(content[last:at]).digest()
                digest = hashlib.sha256(digest + stretch).digest()
                assert told["digest"] == digest.hex()
                assert told["bytes"] == at
                signature = told["signature"]
                signed = b"sledwarden seal 1\n" + text.replace(signature.encode(), b"")
                _verify(told["public_key"], signature, signed)
                last, count = at, count + 1
        at += 9 + length
    assert count >= 4


def _verify(public_key: str, signature: str, signed: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    key.verify(bytes.fromhex(signature), signed)


def test_one_bit_flipped_anywhere_is_tampered(tmp_path: Path) -> None:
    written(tmp_path / "journal", 12)
    content = _only(tmp_path / "journal").read_bytes()
    chance = random.Random(7)
    places = {chance.randrange(len(content)) for _ in range(200)}
    ends = [stamp.end for stamp in segment.scan(content).seals]
    first = [stamp.offset for stamp in segment.scan(content).seals]
    places |= {0, 7, 8, 9, 10, len(content) - 1, *ends, *first, *(one - 1 for one in ends)}
    places |= set(range(first[-1], ends[-1]))  # each byte of the closing seal
    assert proof.check_segment("s", content).verdict is Verdict.WHOLE
    for place in sorted(places - {len(content)}):
        bad = bytearray(content)
        bad[place] ^= 1 << chance.randrange(8)
        verdict = proof.check_segment("s", bytes(bad)).verdict
        assert verdict is Verdict.TAMPERED, f"byte {place}"


def test_a_cut_tail_is_a_power_cut_or_has_no_seal(closed: Path) -> None:
    content = _only(closed).read_bytes()
    first = segment.scan(content).seals[0]
    chance = random.Random(8)
    for length in {chance.randrange(len(content)) for _ in range(150)} | {len(content) - 1}:
        verdict = proof.check_segment("s", content[:length]).verdict
        # The first seal's message ends where its message index begins.
        wanted = Verdict.POWER_CUT if length >= first.end else Verdict.UNREADABLE
        assert verdict is wanted, f"cut at {length}"


def test_a_cut_is_told_with_its_place(closed: Path) -> None:
    content = _only(closed).read_bytes()
    third = segment.scan(content).seals[2]
    report = proof.check_segment("s", content[: third.end + 20])
    assert [(one.offset, one.what) for one in report.reasons] == [
        (third.end, "a record is cut, after seal 3")
    ]


def test_an_unclosed_segment_is_a_power_cut(unclosed: Path) -> None:
    report = succession.check(unclosed)
    assert report.verdict is Verdict.POWER_CUT
    assert "ends without an ending, after seal" in report.reasons[0].what


def test_an_edit_before_the_last_seal_of_an_unclosed_segment_is_tampered(unclosed: Path) -> None:
    content = _only(unclosed).read_bytes()
    last = segment.scan(content).seals[-1].offset
    told = seal.parse(segment.scan(content).seals[-1].message.text)
    assert told is not None
    chance = random.Random(9)
    for place in {chance.randrange(min(last, told.durable)) for _ in range(150)}:
        bad = bytearray(content)
        bad[place] ^= 1 << chance.randrange(8)
        assert proof.check_segment("s", bytes(bad)).verdict is Verdict.TAMPERED, f"byte {place}"


def test_sectors_that_a_power_cut_left_empty_in_the_last_commit_are_no_tampering(
    unclosed: Path,
) -> None:
    """What was not yet synced may be there in part, in any order."""
    content = _only(unclosed).read_bytes()
    found = segment.scan(content)
    last = found.seals[-1]
    told = seal.parse(last.message.text)
    assert told is not None
    content = content[: last.end]
    sectors = range(-(-told.durable // 512) * 512, len(content), 512)
    assert len(sectors) > 2
    for start in sectors:
        torn = content[:start] + bytes(len(content[start : start + 512])) + content[start + 512 :]
        assert proof.check_segment("s", torn).verdict is Verdict.POWER_CUT, f"sector at {start}"


def test_sectors_that_a_power_cut_left_empty_in_the_ending_are_no_tampering(closed: Path) -> None:
    content = _only(closed).read_bytes()
    end = segment.scan(content).end
    for start in range(-(-end // 512) * 512, len(content), 512):
        torn = content[:start] + bytes(len(content[start : start + 512])) + content[start + 512 :]
        assert proof.check_segment("s", torn).verdict is Verdict.POWER_CUT, f"sector at {start}"


def _resealed(content: bytes, key: Key) -> bytes:
    """What an attacker does who has all but the unit's key: edits a record and seals it anew."""
    found = segment.scan(content)
    out = bytearray(content[: found.chunks[0].start])
    since, digest, ending = 0, bytes(32), segment.Ending()
    for one in found.attachments:
        offset = content.index(one.data) - len(one.name) - len(one.media_type) - 41
        length = 9 + int.from_bytes(content[offset + 1 : offset + 9], "little")
        ending.take_attachment(offset, length, one)
    count = 0
    for span in found.chunks:
        inner = span.content(content).replace(b"by day", b"BY DAY")
        if b'"signature"' in inner and inner[0] == 5:
            (message,) = segment.unpacked(inner)
            told = seal.parse(message.text)
            assert told is not None
            digest = hashlib.sha256(digest + hashlib.sha256(out[since:]).digest()).digest()
            told = msgspec.structs.replace(
                told, end=len(out), digest=digest.hex(), public_key=key.public
            )
            since, count = len(out), count + 1
            inner = segment.packed([key.sign(told).message()])
        chunk = segment.framed(inner)
        ending.take_chunk(len(out), chunk)
        out += chunk.framed
    return bytes(out) + ending.written(len(out))


def test_an_edit_sealed_anew_with_another_key_is_tampered_where_the_key_is_given(
    closed: Path, tmp_path: Path
) -> None:
    content = _only(closed).read_bytes()
    ours = succession.check(closed).public_key
    forged = _resealed(content, Key.make())
    assert b"BY DAY" in forged
    # Without the key it can't be told: that is why a key is given, or remembered.
    assert proof.check_segment("s", forged).verdict is Verdict.WHOLE
    report = proof.check_segment("s", forged, ours)
    assert report.verdict is Verdict.TAMPERED
    assert report.reasons[0].what.startswith("was sealed with another key, ")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "time"), ("unit", "sled-8"), ("boot", 9), ("boot_id", "0"), ("segment", 2),
        ("count", 9), ("end", 1), ("durable", 1), ("digest", "0" * 64), ("previous", "0" * 64),
        ("log_time_ns", "1"), ("publish_time_ns", "1"), ("format", 2),
    ],
)  # fmt: skip
def test_no_word_of_a_seal_can_be_changed(closed: Path, field: str, value: object) -> None:
    content = _only(closed).read_bytes()
    stamp = segment.scan(content).seals[1]
    told = seal.parse(stamp.message.text)
    assert told is not None
    changed = msgspec.structs.replace(told, **{field: value})
    assert changed != told
    chunk = segment.framed(segment.packed([changed.message()]))
    forged = content[: stamp.offset] + chunk.framed + content[stamp.end :]
    assert proof.check_segment("s", forged).verdict is Verdict.TAMPERED


def _with_last_seal(content: bytes, changed: Message) -> bytes:
    """The file with another message as its closing seal, and the ending that goes with it."""
    stamp = segment.scan(content).seals[-1]
    chunk = segment.framed(segment.packed([changed]))
    forged = content[: stamp.offset] + chunk.framed
    return forged + segment.scan(forged).ending.written(len(forged))


def test_the_closing_seal_has_no_later_one_and_yet_none_of_it_can_be_changed(closed: Path) -> None:
    content = _only(closed).read_bytes()
    message = segment.scan(content).seals[-1].message
    told = seal.parse(message.text)
    assert told is not None
    assert _with_last_seal(content, message) == content
    unsigned = msgspec.structs.replace(told, signature="0" * 128)
    forgeries = {
        "a seal's signature is false": unsigned.message(),
        "a seal was changed": message._replace(text=message.text + b" "),
        "a seal's times or number were changed": message._replace(
            log_time_ns=message.log_time_ns + 1
        ),
    }
    for what, forged in forgeries.items():
        report = proof.check_segment("s", _with_last_seal(content, forged))
        assert report.verdict is Verdict.TAMPERED
        assert [one.what for one in report.reasons] == [what]
    for field in ("sequence", "publish_time_ns"):
        forged = message._replace(**{field: getattr(message, field) + 1})
        report = proof.check_segment("s", _with_last_seal(content, forged))
        assert report.verdict is Verdict.TAMPERED


def test_records_taken_out_put_in_or_reordered_are_told(closed: Path) -> None:
    content = _only(closed).read_bytes()
    found = segment.scan(content)
    spans = [content[span.start : span.end] for span in found.chunks]
    whole = content[: found.chunks[0].start]
    ending = content[found.end :]
    for order in (
        [*spans[:3], *spans[4:]],
        [*spans[:4], spans[3], *spans[4:]],
        [*spans[:3], spans[4], spans[3], *spans[5:]],
        [*spans[:2], *spans[-2:]],
        spans[:-1],
    ):
        moved = whole + b"".join(order) + ending
        assert proof.check_segment("s", moved).verdict is Verdict.TAMPERED


def test_a_segment_of_another_unit_boot_or_place_is_told(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for path in (ours, theirs):
        for _ in range(3):
            written(path, 12)
    assert succession.check(ours).verdict is Verdict.WHOLE
    key = succession.check(ours).public_key
    places = folder.segments(ours)
    spare = places[1].path.read_bytes()

    places[1].path.write_bytes(folder.segments(theirs)[1].path.read_bytes())
    report = succession.check(ours, key)
    assert report.verdict is Verdict.TAMPERED
    assert "was sealed with another key" in report.reasons[0].what

    places[1].path.write_bytes(places[0].path.read_bytes())
    report = succession.check(ours, key)
    assert [one.what for one in report.reasons][:1] == ["was sealed as segment 1 of boot 1"]
    assert report.verdict is Verdict.TAMPERED

    places[1].path.unlink()
    report = succession.check(ours, key)
    assert report.verdict is Verdict.INCOMPLETE
    assert [one.what for one in report.reasons] == ["a segment before it is missing"]

    places[1].path.write_bytes(spare)
    assert succession.check(ours, key).verdict is Verdict.WHOLE
    assert [one.verdict for one in succession.check(ours, key).segments] == [Verdict.WHOLE] * 3


def test_files_that_are_no_journal_are_unreadable(tmp_path: Path, closed: Path) -> None:
    for content in (b"", b"hello", b"\x89MCAP0\r\n", os.urandom(5000), bytes(5000)):
        assert proof.check_segment("s", content).verdict is Verdict.UNREADABLE
    with pytest.raises(JournalError) as fault:
        succession.check(tmp_path)
    assert str(fault.value) == (
        f"{tmp_path}: holds no journal segment: must be a .mcap or their folder."
    )


def test_a_journal_without_seals_never_passes(closed: Path) -> None:
    content = _only(closed).read_bytes()
    found = segment.scan(content)
    out = bytearray(content[: found.chunks[0].start])
    ending = segment.Ending()
    for span in found.chunks:
        inner = span.content(content)
        if inner[0] != 5 or b'"signature"' not in inner:
            chunk = segment.framed(inner)
            ending.take_chunk(len(out), chunk)
            out += chunk.framed
    assert proof.check_segment("s", bytes(out)).verdict is Verdict.UNREADABLE
    whole = bytes(out) + ending.written(len(out))
    assert proof.check_segment("s", whole).verdict is Verdict.TAMPERED


def test_random_bytes_and_random_damage_never_raise(closed: Path) -> None:
    content = _only(closed).read_bytes()
    chance = random.Random(11)
    for _ in range(150):
        bad = bytearray(content)
        for _ in range(chance.randrange(1, 20)):
            at = chance.randrange(len(bad))
            bad[at : at + chance.randrange(40)] = chance.randbytes(chance.randrange(40))
        assert proof.check_segment("s", bytes(bad)).verdict is not Verdict.WHOLE


def test_the_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "unit.key"
    key = Key.load(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.load(path).public == key.public
    assert not list(tmp_path.glob("*.new"))
    assert len(key.fingerprint) == 19


@pytest.mark.parametrize("content", [b"", b"abc\n", b"Z" * 64, b"\xff" * 64, b"a" * 63])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "unit.key"
    path.write_bytes(content)
    with pytest.raises(JournalError) as fault:
        Key.load(path)
    assert str(fault.value) == (
        f"{path}: is no key: must be 64 hex digits, the private half of an Ed25519 key. "
        "Restore it from a copy, or move it away to have a new one made."
    )
    assert path.read_bytes() == content


def test_a_seal_is_read_only_in_its_one_way_of_writing(closed: Path) -> None:
    text = segment.scan(_only(closed).read_bytes()).seals[0].message.text
    told = seal.parse(text)
    assert isinstance(told, Seal)
    signature = told.signature.encode()
    for other in (
        text.replace(b":", b": ", 1),
        text.replace(signature, signature.upper()),
        text.replace(signature, b""),
        text[:-1] + b',"more":1}',
        text.replace(b'"format":1', b'"format":1.0'),
        b"",
    ):
        assert seal.parse(other) is None
