"""What an attacker may do to a journal's folder, and what `verify` says of it afterwards.

A victim has four boots of two segments each, all stored and told of in the ledger; of one of them
the owner deleted the second boot. Each attack takes random places. It is judged with the ledger at
hand (its length and digest from an earlier download, and, where the attack left it alone, the
file), and by the seals alone: each file unpacked, without any ledger.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from journal_samples import START, journal_in, put_all, ride

from firmware.errors import JournalError
from firmware.journal import folder, ledger, seal, segment, stored
from firmware.journal.folder import LEDGER, Place
from firmware.journal.keeper import Keeper
from firmware.journal.ledger import SegmentLine, TombstoneLine
from firmware.journal.seal import Chain, Key
from host_tools.journals.archive import UNIT_JSON, Seen, UnitFile
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

BOOTS = 4
DELETED_BOOT = 2


def make_victim(
    path: Path, unit: str = START.unit, owner: Path | None = None, *, forget: bool = True
) -> None:
    """Writes a unit's journal as the daemon does, with a keeper that stores and deletes."""
    for boot in range(1, BOOTS + 1):
        keeper = Keeper(path, unit, owner_path=owner)
        journal = journal_in(path, start=replace(START, unit=unit), keeper=keeper)
        journal.open()
        # the first date begins a new segment
        put_all(journal, [*ride(30, utc=None), *ride(30 + 10 * boot, from_s=103.0)])
        assert keeper.wait(60.0)
        assert journal.close(110.0, timeout_s=10.0)
    keeper = Keeper(path, unit, owner_path=owner)
    keeper.begin(Key.load(path.with_name(f"{path.name}.key")))
    keeper.forget(DELETED_BOOT if forget else 0, None, "the owner", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    assert keeper.trouble == ""


@dataclass(frozen=True, slots=True)
class Victims:
    """One unit's journal compressed, such a one without a deletion, one encrypted, and another
    unit's."""

    packed: Path
    plain: Path
    locked: Path
    foreign: Path

    @classmethod
    def make(cls, where: Path) -> Victims:
        import pyrage  # only here

        owner = where / "owner"
        owner.write_text(f"{pyrage.x25519.Identity.generate().to_public()}\n")
        one = cls(where / "packed", where / "plain", where / "locked", where / "foreign")
        make_victim(one.packed)
        make_victim(one.plain, forget=False)
        make_victim(one.locked, owner=owner)
        make_victim(one.foreign, "sled-8", forget=False)
        return one


class Scene:
    """One try: a copy of a victim, what chance chose in it, and the words to change it with."""

    def __init__(self, victims: Victims, work: Path, chance: random.Random) -> None:
        self.victims = victims
        self.chance = chance
        self.path = work / "journal"
        self.home = victims.packed

    def copy(self, home: Path) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(home, self.path)
        self.home = home

    @property
    def places(self) -> list[Place]:
        return folder.segments(self.path)

    def place(self) -> Place:
        """Any segment."""
        return self.chance.choice(self.places)

    def other(self, than: Place) -> Place:
        return self.chance.choice([one for one in self.places if one.path != than.path])

    def change(self, place: Place, change: Callable[[bytes], bytes]) -> None:
        """Changes the sealed bytes, and stores them again in the form that chance takes."""
        content = change(stored.read(place.path))
        if self.chance.random() < 0.5:
            place.path.write_bytes(stored.packed(content))
        else:
            place.path.unlink()
            stored.raw_path(place.path).write_bytes(content)

    def change_file(self, path: Path, change: Callable[[bytes], bytes]) -> None:
        path.write_bytes(change(path.read_bytes()))

    @property
    def ledger(self) -> Path:
        return self.path / LEDGER

    def lines(self) -> list[bytes]:
        return self.ledger.read_bytes().splitlines()

    def write_lines(self, lines: list[bytes]) -> None:
        self.ledger.write_bytes(b"".join(line + b"\n" for line in lines))


def spans(content: bytes) -> tuple[bytes, list[bytes], bytes]:
    """A segment's head, its chunks with their indexes, and its ending."""
    found = segment.scan(content)
    chunks = [content[span.start : span.end] for span in found.chunks]
    return content[: found.chunks[0].start], chunks, content[found.end :]


def joined(head: bytes, chunks: list[bytes]) -> bytes:
    """The segment of these chunks, with the ending that they give."""
    body = head + b"".join(chunks)
    return body + segment.scan(body).ending.written(len(body))


def sealed_anew(content: bytes, key: Key, change: Callable[[bytes], bytes] = bytes) -> bytes:
    """A segment whose chunks were changed, with all its seals made again by a key."""
    head, _, _ = spans(content)
    found = segment.scan(content)
    stamps = {stamp.offset: seal.parse(stamp.message.text) for stamp in found.seals}
    body, since, chain = bytearray(head), bytearray(head), None
    for span in found.chunks:
        old = stamps.get(span.start)
        if old is None:
            body += (piece := segment.framed(change(span.content(content))).framed)
            since += piece
            continue
        chain = chain or Chain(old.unit, old.boot, old.boot_id, old.segment, old.previous)
        new = chain.next(
            key, old.kind, hashlib.sha256(since).digest(), end=len(body),
            durable=min(old.durable, len(body)), log_time_ns=int(old.log_time_ns),
            publish_time_ns=int(old.publish_time_ns),
        )  # fmt: skip
        chain.taken(new)
        own = segment.framed(segment.packed([new.message()])).framed
        body += own
        since = bytearray(own)
    whole = bytes(body)
    return whole + segment.scan(whole).ending.written(len(whole))


# The attacks. Each is a function of a scene; its name is what the table says.

Attack = Callable[[Scene], None]
ATTACKS: dict[str, Attack] = {}


def attack(words: str) -> Callable[[Attack], Attack]:
    def add(one: Attack) -> Attack:
        ATTACKS[words] = one
        return one

    return add


def _flipped(scene: Scene, content: bytes) -> bytes:
    at = scene.chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << scene.chance.randrange(8)]) + content[at + 1 :]


def _inserted(scene: Scene, content: bytes) -> bytes:
    at = scene.chance.randrange(len(content))
    return content[:at] + scene.chance.randbytes(scene.chance.randrange(1, 64)) + content[at:]


def _taken_out(scene: Scene, content: bytes) -> bytes:
    at = scene.chance.randrange(len(content) - 1)
    return content[:at] + content[at + scene.chance.randrange(1, 64) :]


def _cut(scene: Scene, content: bytes) -> bytes:
    return content[: scene.chance.randrange(len(content))]


@attack("a bit of a sealed segment is flipped")
def _(scene: Scene) -> None:
    scene.change(scene.place(), lambda content: _flipped(scene, content))


@attack("a bit of a compressed file is flipped")
def _(scene: Scene) -> None:
    scene.change_file(scene.place().path, lambda content: _flipped(scene, content))


@attack("a bit of an encrypted file is flipped")
def _(scene: Scene) -> None:
    scene.copy(scene.victims.locked)
    scene.change_file(scene.place().path, lambda content: _flipped(scene, content))


@attack("bytes are put in")
def _(scene: Scene) -> None:
    scene.change(scene.place(), lambda content: _inserted(scene, content))


@attack("bytes are taken out")
def _(scene: Scene) -> None:
    scene.change(scene.place(), lambda content: _taken_out(scene, content))


def _with_chunks(
    scene: Scene, change: Callable[[list[bytes]], None], place: Place | None = None
) -> None:
    def changed(content: bytes) -> bytes:
        head, chunks, _ = spans(content)
        change(chunks)
        return joined(head, chunks)

    scene.change(place or scene.place(), changed)


@attack("a value is changed, checksums and index made good")
def _(scene: Scene) -> None:
    def changed(chunks: list[bytes]) -> None:
        at = scene.chance.choice(
            [at for at, chunk in enumerate(chunks) if b'"kind":"' not in chunk[-700:] and at]
        )
        content = chunks[at][
            9 + segment.CHUNK_HEAD_BYTES : 9 + int.from_bytes(chunks[at][1:9], "little")
        ]
        messages = list(segment.unpacked(content))
        which = scene.chance.randrange(len(messages))
        digits = [i for i, one in enumerate(messages[which].text) if 48 <= one < 57]
        place = scene.chance.choice(digits)
        text = bytearray(messages[which].text)
        text[place] += 1
        messages[which] = messages[which]._replace(text=bytes(text))
        chunks[at] = bytes(segment.framed(segment.packed(messages)).framed)

    _with_chunks(scene, changed)


@attack("a chunk is left out, index made good")
def _(scene: Scene) -> None:
    _with_chunks(scene, lambda chunks: chunks.pop(scene.chance.randrange(1, len(chunks))) and None)


@attack("a chunk is put in twice, index made good")
def _(scene: Scene) -> None:
    def changed(chunks: list[bytes]) -> None:
        which = scene.chance.randrange(1, len(chunks))
        chunks.insert(scene.chance.randrange(1, len(chunks)), chunks[which])

    _with_chunks(scene, changed)


@attack("two chunks change places, index made good")
def _(scene: Scene) -> None:
    def changed(chunks: list[bytes]) -> None:
        one, two = scene.chance.sample(range(1, len(chunks)), 2)
        chunks[one], chunks[two] = chunks[two], chunks[one]

    _with_chunks(scene, changed)


def _spliced(scene: Scene, place: Place, other: bytes) -> None:
    _, spare, _ = spans(other)

    def changed(chunks: list[bytes]) -> None:
        theirs = [one for one in spare[1:] if one not in chunks]  # some say the same
        chunks[scene.chance.randrange(1, len(chunks))] = scene.chance.choice(theirs)

    _with_chunks(scene, changed, place)


@attack("a chunk of another boot is spliced in")
def _(scene: Scene) -> None:
    place = scene.place()
    others = [one for one in scene.places if one.boot != place.boot]
    _spliced(scene, place, stored.read(scene.chance.choice(others).path))


@attack("a chunk of another unit is spliced in")
def _(scene: Scene) -> None:
    theirs = scene.chance.choice(folder.segments(scene.victims.foreign))
    _spliced(scene, scene.place(), stored.read(theirs.path))


@attack("a segment is replaced by another one of its unit")
def _(scene: Scene) -> None:
    place = scene.place()
    other = stored.read(scene.other(place).path)
    scene.change(place, lambda _: other)


@attack("a segment is replaced by that of another unit")
def _(scene: Scene) -> None:
    place = scene.place()
    theirs = {(one.boot, one.segment): one for one in folder.segments(scene.victims.foreign)}
    other = stored.read(theirs[place.boot, place.segment].path)
    scene.change(place, lambda _: other)


@attack("an encrypted file is replaced by another one of its unit")
def _(scene: Scene) -> None:
    scene.copy(scene.victims.locked)
    place = scene.place()
    shutil.copy(scene.other(place).path, place.path)


@attack("a segment is sealed again with another key")
def _(scene: Scene) -> None:
    key = Key.make()
    scene.change(scene.place(), lambda content: sealed_anew(content, key, _faster))


def _faster(content: bytes) -> bytes:
    return content.replace(b'"speed_mps":20.1', b'"speed_mps":15.1')


@attack("the whole folder is sealed again with another key")
def _(scene: Scene) -> None:
    key = Key.make()
    for place in scene.places:
        scene.change(place, lambda content: sealed_anew(content, key, _faster))


@attack("a tail is cut off at any byte")
def _(scene: Scene) -> None:
    scene.change(scene.place(), lambda content: _cut(scene, content))


@attack("a tail is cut off right after a seal")
def _(scene: Scene) -> None:
    def cut(content: bytes) -> bytes:
        return content[: scene.chance.choice(segment.scan(content).seals[:-1]).end]

    scene.change(scene.place(), cut)


@attack("the newest segment is cut off right after a seal")
def _(scene: Scene) -> None:
    def cut(content: bytes) -> bytes:
        return content[: scene.chance.choice(segment.scan(content).seals[:-1]).end]

    scene.change(scene.places[-1], cut)


@attack("the tail of a compressed file is cut off")
def _(scene: Scene) -> None:
    scene.change_file(scene.place().path, lambda content: _cut(scene, content))


@attack("the tail of an encrypted file is cut off")
def _(scene: Scene) -> None:
    scene.copy(scene.victims.locked)
    scene.change_file(scene.place().path, lambda content: _cut(scene, content))


@attack("a compressed file lies beside a sealed one that differs")
def _(scene: Scene) -> None:
    place = scene.place()
    content = _flipped(scene, stored.read(place.path))
    stored.raw_path(place.path).write_bytes(content)


@attack("a sealed file lies beside a compressed one that differs")
def _(scene: Scene) -> None:
    place = scene.place()
    content = stored.read(place.path)
    stored.raw_path(place.path).write_bytes(content)
    place.path.write_bytes(stored.packed(_flipped(scene, content)))


@attack("a sealed file lies beside an encrypted one that differs")
def _(scene: Scene) -> None:
    same = {
        (one.boot, one.segment): one for one in folder.segments(scene.victims.packed)
    }  # another journal of the same unit
    scene.copy(scene.victims.locked)
    place = scene.place()
    content = stored.read(same[place.boot, place.segment].path)
    stored.raw_path(place.path).write_bytes(content)


@attack("a segment is taken away")
def _(scene: Scene) -> None:
    scene.place().path.unlink()


@attack("a boot is taken away")
def _(scene: Scene) -> None:
    shutil.rmtree(scene.chance.choice(folder.boots(scene.path)))


@attack("the newest segments are taken away")
def _(scene: Scene) -> None:
    places = scene.places
    for place in places[scene.chance.randrange(1, len(places)) :]:
        place.path.unlink()


@attack("two segments change names")
def _(scene: Scene) -> None:
    one = scene.place()
    two = scene.other(one)
    first, second = one.path.read_bytes(), two.path.read_bytes()
    one.path.write_bytes(second)
    two.path.write_bytes(first)


@attack("a segment is renamed")
def _(scene: Scene) -> None:
    place = scene.place()
    number = scene.chance.randrange(3, 10**6)
    place.path.rename(place.path.with_name(f"{number:06d}{stored.form_of(place.path)}"))


@attack("a boot is renamed")
def _(scene: Scene) -> None:
    boot = scene.chance.choice(folder.boots(scene.path))
    number, _, name = boot.name.partition("-")
    if scene.chance.random() < 0.5:
        number = f"{scene.chance.randrange(BOOTS + 1, 10**6):06d}"
    else:
        name = f"{scene.chance.randrange(16**8):08x}"
    boot.rename(boot.with_name(f"{number}-{name}"))


@attack("a segment is copied under another number")
def _(scene: Scene) -> None:
    place = scene.place()
    number = scene.chance.randrange(3, 10**6)
    shutil.copy(place.path, place.path.with_name(f"{number:06d}{stored.form_of(place.path)}"))


@attack("a boot is copied under another number")
def _(scene: Scene) -> None:
    boot = scene.chance.choice(folder.boots(scene.path))
    number = scene.chance.randrange(BOOTS + 1, 10**6)
    shutil.copytree(boot, boot.with_name(f"{number:06d}-{boot.name[7:]}"))


@attack("ledger: a bit is flipped")
def _(scene: Scene) -> None:
    scene.change_file(scene.ledger, lambda content: _flipped(scene, content))


@attack("ledger: bytes are put in")
def _(scene: Scene) -> None:
    scene.change_file(scene.ledger, lambda content: _inserted(scene, content))


@attack("ledger: bytes are taken out")
def _(scene: Scene) -> None:
    scene.change_file(scene.ledger, lambda content: _taken_out(scene, content))


@attack("ledger: a line is left out")
def _(scene: Scene) -> None:
    lines = scene.lines()
    del lines[scene.chance.randrange(len(lines))]
    scene.write_lines(lines)


@attack("ledger: a line is put in twice")
def _(scene: Scene) -> None:
    lines = scene.lines()
    lines.insert(scene.chance.randrange(len(lines) + 1), scene.chance.choice(lines))
    scene.write_lines(lines)


@attack("ledger: two lines change places")
def _(scene: Scene) -> None:
    lines = scene.lines()
    one, two = scene.chance.sample(range(len(lines)), 2)
    lines[one], lines[two] = lines[two], lines[one]
    scene.write_lines(lines)


@attack("ledger: rolled back by some lines")
def _(scene: Scene) -> None:
    lines = scene.lines()
    scene.write_lines(lines[: scene.chance.randrange(len(lines))])


@attack("ledger: its last bytes are zeros or cut, as by a power cut")
def _(scene: Scene) -> None:
    content = scene.ledger.read_bytes()
    size = scene.chance.randrange(1, 1200)
    zeros = bytes(size) if scene.chance.random() < 0.5 else b""
    scene.ledger.write_bytes(content[:-size] + zeros)


@attack("ledger: taken away")
def _(scene: Scene) -> None:
    scene.ledger.unlink()


@attack("ledger: that of another unit")
def _(scene: Scene) -> None:
    shutil.copy(scene.victims.foreign / LEDGER, scene.ledger)


def _signed_again(scene: Scene, lines: list[ledger.Line], key: Key) -> None:
    """A ledger of these lines, each following from the one before, all signed by a key."""
    written: list[bytes] = []
    for count, line in enumerate(lines, start=1):
        before = ledger.line_digest(written[-1]) if written else ""
        follows = msgspec.structs.replace(line, count=count, previous=before)
        written.append(ledger.signed(follows, key))
    scene.write_lines(written)


@attack("ledger: a segment is left out, all signed again with another key")
def _(scene: Scene) -> None:
    place = scene.place()
    lines = [
        line
        for line in ledger.read(scene.ledger).lines
        if not isinstance(line, SegmentLine)
        or (line.boot, line.segment) != (place.boot, place.segment)
    ]
    place.path.unlink()
    _signed_again(scene, lines, Key.make())


def _tombstone(scene: Scene) -> tuple[Place, TombstoneLine]:
    place = scene.place()
    told = ledger.read(scene.ledger)
    line = told.segments()[place.boot, place.segment]
    return place, TombstoneLine(
        unit=line.unit, count=told.count + 1, previous=told.head, time_ns=line.time_ns,
        boot=line.boot, boot_id=line.boot_id, segment=line.segment, line=line.count,
        digest=line.digest, stored_sha256=line.stored_sha256, why="quota",
    )  # fmt: skip


@attack("ledger: a forged tombstone, its segment taken away")
def _(scene: Scene) -> None:
    place, forged = _tombstone(scene)
    scene.write_lines([*scene.lines(), ledger.signed(forged, Key.make())])
    place.path.unlink()


@attack("ledger: a tombstone with the signature of another line")
def _(scene: Scene) -> None:
    place, forged = _tombstone(scene)
    lines = scene.lines()
    true = scene.chance.choice(lines)
    signature = true[-130:-2]
    key = ledger.read(scene.ledger).key
    forged = msgspec.structs.replace(forged, public_key=key, signature=signature.decode())
    scene.write_lines([*lines, msgspec.json.encode(forged)])
    place.path.unlink()


# The judging.


def judged(scene: Scene) -> str:
    """The verdict on the attacked folder, with the ledger at hand as an earlier download saw it."""
    content = (scene.home / LEDGER).read_bytes()
    seen = Seen(len(content), hashlib.sha256(content).hexdigest())
    known = UnitFile(START.unit, ledger=seen)
    (scene.path / UNIT_JSON).write_bytes(msgspec.json.encode(known))
    return _verdict(scene.path)


def judged_by_seals(scene: Scene) -> str:
    """The verdict of the seals alone: each file unpacked that can be, and no ledger."""
    for name in (LEDGER, UNIT_JSON):
        (scene.path / name).unlink(missing_ok=True)
    for path in sorted(scene.path.glob("*/*.mcap.zst")):
        raw = stored.raw_path(path)
        if not raw.exists():
            try:
                raw.write_bytes(stored.read(path))
            except JournalError:  # verify says it of the file that stays
                continue
        path.unlink()
    return _verdict(scene.path)


def _verdict(path: Path) -> str:
    (source,) = find([path])
    return str(verify(source).report.verdict)


BY_LEDGER_ONLY = ("encrypted", "beside", "ledger:")
"""In the names of the attacks that no seal has to do with."""


def tried(
    words: str, victims: Victims, work: Path, tries: int, seed: int
) -> tuple[list[str], list[str]]:
    """The verdicts on so many tries of an attack: with the ledger at hand, and by the seals."""
    scene = Scene(victims, work, random.Random(f"{seed} {words}"))
    told, by_seals = [], []
    for number in range(tries):
        scene.copy((victims.packed, victims.plain)[number % 2])
        ATTACKS[words](scene)
        told.append(judged(scene))
    scene = Scene(victims, work, random.Random(f"{seed} {words}"))
    for _ in range(0 if any(one in words for one in BY_LEDGER_ONLY) else tries):
        scene.copy(victims.plain)
        ATTACKS[words](scene)
        by_seals.append(judged_by_seals(scene))
    return told, by_seals
