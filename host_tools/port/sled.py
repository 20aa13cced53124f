"""How a unit is reached: its service port, by SMP over a serial line or UDP.

`smpclient` carries and frames the messages. Several requests are under way at once, so that a line
is never idle between an answer and the next question; each answer says which stretch of which file
it is, so what is lost is asked for again and nothing is ever at a wrong place.
"""

from __future__ import annotations

import asyncio
import logging
import termios
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import cbor2
import msgspec
from msgspec import Struct
from smp.error import MGMT_ERR
from smp.exceptions import SMPException
from smp.file_management import (
    FS_MGMT_ERR,
    FileHashChecksumRequest,
    FileStatusRequest,
    FileUploadRequest,
)
from smp.header import GroupId, Header
from smp.message import Request
from smp.os_management import DateTimeReadRequest, DateTimeWriteRequest, ResetWriteRequest
from smp.settings_management import (
    DeleteSettingRequest,
    ReadSettingRequest,
    SaveSettingsRequest,
    WriteSettingRequest,
)
from smpclient.exceptions import SMPClientException
from smpclient.transport import SMPTransport, SMPTransportDisconnected

from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.port.hosts import HostKey
from firmware.port.messages import INDEX, INDEX_FORMAT, PACKED_BYTES, REQUEST_BYTES
from firmware.port.plain import is_plain
from host_tools.port.messages import (
    MOST_INDEX_BYTES,
    Date,
    Digest,
    Error,
    Files,
    FilesRead,
    ForgetWrite,
    HostWrite,
    Identity,
    IdentityRead,
    Index,
    InstallWrite,
    Length,
    Nonce,
    Nothing,
    Offset,
    Packed,
    PackedRead,
    ProofRead,
    ProofWrite,
    Put,
    Session,
    SessionRead,
    SessionWrite,
    ShowKeyWrite,
    UndoWrite,
    Value,
    Words,
)

if TYPE_CHECKING:
    from smpclient.transport.udp import SMPUDPTransport

UDP_PORT = 1337
CONNECT_S = 2.0
ANSWER_S = 3.0
DATAGRAM_S = 0.7
"""A datagram that has no answer after so long was lost."""
HASH_S = 30.0
"""A unit's digest of a whole segment, read from a slow card."""
TRIES = 4
UNDER_WAY = 4
"""How many requests wait for their answers at once; the unit names 8 as its most."""

FIRST_BLOCK_BYTES = 8192
LEAST_BLOCK_BYTES = 512
SERIAL_STRETCH_BYTES = REQUEST_BYTES - 248
DATAGRAM_STRETCH_BYTES = 1200
"""What of a file fits a request beside its names."""
MAX_INDEX_BYTES = 1 << 24

_HEADER_BYTES = Header.SIZE
_SEQUENCE_AT = 6  # in the header: op, flags, length (2), group (2), sequence, command
_LOST = (SMPTransportDisconnected, OSError, termios.error)
_GARBLED = (SMPException, SMPClientException, ValueError, AssertionError)  # smp asserts lengths

_T = TypeVar("_T", bound=Struct)


class LostError(SledwardenError):
    """The unit is not there any more, or never was: who, and what to look at."""


class RefusedError(SledwardenError):
    """The unit's own refusal, in its words; `code` is SMP's."""

    def __init__(self, where: str, what: str, advice: str = "", code: int = 0) -> None:
        super().__init__(where, what, advice)
        self.code = code


@dataclass(frozen=True, slots=True)
class Way:
    """Where a unit is: a serial port, or a host and a UDP port."""

    port: str | None = None
    host: str = ""
    udp: int = UDP_PORT
    baud: int = 115_200

    def __str__(self) -> str:
        return self.port if self.port is not None else f"{self.host}:{self.udp}"


@dataclass(slots=True)
class _Asked:
    """A stretch that was asked for: when, and how often."""

    offset: int
    count: int
    sent_s: float = 0.0
    tries: int = 0


class Sled:
    """A unit's opened service port; raises LostError and RefusedError, and nothing of SMP's own."""

    def __init__(self, way: Way) -> None:
        """Opens the port; raises LostError where it can't be."""
        self.way = way
        self._clock = Clock()
        self._runner = asyncio.Runner()
        self._transport = _transport(way)
        self.block_bytes = FIRST_BLOCK_BYTES
        logging.getLogger("smpclient").setLevel(logging.CRITICAL)  # what it says, we say in words
        logging.getLogger("smp").setLevel(logging.CRITICAL)
        try:
            self._run(self._connect)
        except SledwardenError:
            self._runner.close()
            raise

    def close(self) -> None:
        """Leaves the port; safe to call twice."""
        try:
            self._runner.run(self._transport.disconnect())
        except (*_LOST, AttributeError, RuntimeError):  # smpclient's own, of what never was open
            pass
        self._runner.close()

    def __enter__(self) -> Sled:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def identity(self) -> Identity:
        """Who this unit is."""
        return self._ask(IdentityRead(), Identity)

    def session(self, key: HostKey | None = None) -> Session:
        """Whether the port is open, and whether this key is enrolled, where one is given."""
        return self._ask(SessionRead(key=None if key is None else key.public), Session)

    def ask_to_open(self) -> Session:
        """Has the glass ask the rider to open the port."""
        return self._ask(SessionWrite(), Session)

    def prove(self, key: HostKey, unit_key: str) -> Session:
        """Opens the port for this enrolled host alone; raises RefusedError where it is not one."""
        nonce = self._ask(ProofRead(), Nonce).nonce
        proof = ProofWrite(key=key.public, signature=key.prove(unit_key, nonce))
        return self._ask(proof, Session)

    def enroll(self, key: HostKey, name: str, unit_key: str) -> str:
        """Asks that this host be enrolled; the four words that the glass now shows."""
        nonce = self._ask(ProofRead(), Nonce).nonce
        signature = key.prove(unit_key, nonce)
        return self._ask(HostWrite(key=key.public, signature=signature, name=name), Words).words

    def index(self) -> Index:
        """What the unit's journal holds now."""
        octets = bytearray()
        for piece in self.read(INDEX, 0, None):
            octets += piece
            if len(octets) > MOST_INDEX_BYTES:
                what = f"its index has no end: at most {MOST_INDEX_BYTES:,} bytes are read."
                raise RefusedError(str(self.way), what, "Is it a sledwarden?")
        try:
            index = msgspec.json.decode(octets, type=Index)
        except (ValueError, RecursionError) as fault:
            raise RefusedError(str(self.way), f"its index can't be read: {fault}.") from fault
        if index.format > INDEX_FORMAT:
            raise RefusedError(
                str(self.way),
                f"its index has format {index.format}: this version reads {INDEX_FORMAT}.",
                "Update this computer's sledwarden.",
            )
        return index

    def sha256(self, name: str, count: int) -> str:
        """The unit's own SHA-256, in hex, of the first bytes of a file."""
        asked = FileHashChecksumRequest(name=name, type="sha256", off=0, len=count)
        told = self._ask(asked, Digest, HASH_S)
        return told.output.hex() if told.len == count else ""

    def read(self, name: str, offset: int, until: int | None) -> Iterator[bytes]:
        """The bytes of a file from an offset up to another, or to its end, in order.

        Raises LostError when the unit is gone; what came before was good.
        """
        row = _Row(self, name, offset, until)
        while (piece := self._run(row.next)) is not None:
            yield piece

    # What is brought to it.

    def sent(self, name: str) -> int:
        """How much of a file has come to the unit; 0 where nothing has."""
        try:
            return self._ask(FileStatusRequest(name=name), Length).len
        except RefusedError:
            return 0

    def send_file(self, name: str, offset: int, octets: bytes, length: int) -> int:
        """Sends a stretch of a file; the offset that the unit wants next."""
        request = FileUploadRequest(
            name=name, off=offset, data=octets, len=length if offset == 0 else None
        )
        return self._ask(request, Offset).off

    @property
    def sending_bytes(self) -> int:
        """How long a stretch fits a request on this way."""
        return SERIAL_STRETCH_BYTES if self.way.port is not None else DATAGRAM_STRETCH_BYTES

    def files(self) -> Files:
        """What the unit has of the files that may be replaced."""
        return self._ask(FilesRead(), Files)

    def install(self, name: str, sha256: bytes) -> Put:
        """Has the unit put a file in use that was sent whole; raises RefusedError with its
        reasons."""
        return self._ask(InstallWrite(name=name, sha256=sha256), Put, HASH_S)

    def undo(self, name: str) -> Put:
        """Has the unit put back what was in use before."""
        return self._ask(UndoWrite(name=name), Put)

    def setting(self, name: str) -> str:
        """A setting as TOML; the whole configuration for no name."""
        return self._ask(ReadSettingRequest(name=name), Value).val.decode()

    def set_setting(self, name: str, value: str | None) -> None:
        """Changes a setting and saves it; None takes it out, so that its default holds."""
        if value is None:
            self._ask(DeleteSettingRequest(name=name), Nothing)
        else:
            self._ask(WriteSettingRequest(name=name, val=value.encode()), Nothing)
        self._ask(SaveSettingsRequest(), Nothing)

    def show_key(self) -> None:
        """Has the glass show the key that seals the journal."""
        self._ask(ShowKeyWrite(), Nothing)

    def forget(self, place: str) -> None:
        """Has the unit delete a boot of its journal, or a segment of it, as its owner wishes."""
        self._ask(ForgetWrite(place=place), Nothing)

    def restart(self) -> None:
        """Has the daemon start anew, with what was put in use."""
        self._ask(ResetWriteRequest(), Nothing)

    def date(self) -> str:
        """The unit's date in UTC, as ISO 8601."""
        return self._ask(DateTimeReadRequest(), Date).datetime

    def set_date(self, utc: datetime) -> None:
        """Sets the unit's battery clock; refused while the satellites give the date."""
        self._ask(DateTimeWriteRequest(datetime=f"{utc:%Y-%m-%dT%H:%M:%S.%f}"), Nothing)

    def _ask(self, request: Request, kind: type[_T], within_s: float = ANSWER_S) -> _T:
        return self._run(lambda: self._exchange(request, kind, within_s))

    async def _exchange(self, request: Request, kind: type[_T], within_s: float) -> _T:
        for _ in range(TRIES):
            await self._transport.send(request.BYTES)
            until_s = self._clock.mono_s() + within_s
            while (left_s := until_s - self._clock.mono_s()) > 0:
                frame = await self.receive(left_s)
                if frame is not None and frame[_SEQUENCE_AT] == request.header.sequence:
                    return self.taken(frame, kind)
        raise self.silent()

    async def _connect(self) -> None:
        if self.way.port is not None:
            await self._transport.connect(self.way.port, CONNECT_S)
            return
        transport: SMPUDPTransport = self._transport  # type: ignore[assignment]  # see _transport
        await transport.connect(self.way.host, CONNECT_S, self.way.udp)

    async def send(self, request: Request) -> None:
        await self._transport.send(request.BYTES)

    async def receive(self, within_s: float) -> bytes | None:
        """The next answer that is whole, None where none came in time or it was garbled."""
        try:
            frame = await asyncio.wait_for(self._transport.receive(), within_s)
        except TimeoutError:
            return None
        except _GARBLED:
            return None
        return bytes(frame) if len(frame) >= _HEADER_BYTES else None

    def taken(self, frame: bytes, kind: type[_T]) -> _T:
        """What an answer says; raises RefusedError where it is a refusal or makes no sense."""
        try:
            if not is_plain(frame[_HEADER_BYTES:]):
                raise ValueError("no plain CBOR")
            body = cbor2.loads(frame[_HEADER_BYTES:])
            error = msgspec.convert(body, Error)
            if error.rc or error.err:
                raise self._refused(error)
            return msgspec.convert(body, kind)
        except (cbor2.CBORError, ValueError, TypeError, RecursionError) as fault:
            raise RefusedError(
                str(self.way), f"it answered what makes no sense: {fault}.", "Is it a sledwarden?"
            ) from fault

    def _refused(self, error: Error) -> RefusedError:
        group = error.err or {"group": -1, "rc": error.rc or 0}
        code = group.get("rc", 0)
        words = error.rsn or f"it answered with SMP error {code} of group {group.get('group')}."
        if group.get("group") == GroupId.FILE_MANAGEMENT and code in set(FS_MGMT_ERR):
            words = f"{FS_MGMT_ERR(code).name.replace('_', ' ').lower()}."
        elif error.err is None and not error.rsn and code in set(MGMT_ERR):
            words = f"it refused: {MGMT_ERR(code).name}."
        return RefusedError(str(self.way), words, code=code)

    def silent(self) -> LostError:
        """Nobody answers."""
        return LostError(
            str(self.way), "nobody answers.", "Is it a sledwarden's port, and is the unit on?"
        )

    def _run(self, work: Callable[[], Awaitable[_R]]) -> _R:
        async def whole() -> _R:
            return await work()

        try:
            return self._runner.run(whole())
        except TimeoutError as fault:
            raise LostError(
                str(self.way),
                "can't be opened.",
                "Is the cable in, and does no other program hold the port?",
            ) from fault
        except _LOST as fault:
            what = getattr(fault, "strerror", None) or "the cable was pulled"
            raise LostError(str(self.way), f"was lost: {what}.", "Look at the cable.") from fault


_R = TypeVar("_R")


class _Row:
    """One file being read: what was asked for, what came early, and what is due next."""

    def __init__(self, sled: Sled, name: str, offset: int, until: int | None) -> None:
        self._sled = sled
        self._name = name
        self._due = offset
        self._ask_at = offset
        self._until = until
        self._asked: dict[int, _Asked] = {}
        self._came: dict[int, bytes] = {}
        self._again: list[_Asked] = []
        self._clock = Clock()
        self._patience_s = ANSWER_S if sled.way.port is not None else DATAGRAM_S

    async def next(self) -> bytes | None:
        """The next bytes in order; None after the last."""
        while True:
            piece = self._came.pop(self._due, None)
            if piece is not None:
                self._due += len(piece)
                return piece
            if self._until is not None and self._due >= self._until:
                return None
            await self._fill()
            frame = await self._sled.receive(self._wait_s())
            if frame is not None:
                self._take(frame)
            self._notice_lost()

    async def _fill(self) -> None:
        """Keeps requests under way; only one until the length is known."""
        while self._again:
            await self._ask(self._again.pop())
        most = 1 if self._until is None else UNDER_WAY
        while len(self._asked) < most and (self._until is None or self._ask_at < self._until):
            count = self._sled.block_bytes
            if self._until is not None:
                count = min(count, self._until - self._ask_at)
            offset, self._ask_at = self._ask_at, self._ask_at + count
            await self._ask(_Asked(offset, count))

    async def _ask(self, asked: _Asked) -> None:
        asked.tries += 1
        if asked.tries > TRIES:
            raise self._sled.silent()
        asked.sent_s = self._clock.mono_s()
        request = PackedRead(name=self._name, off=asked.offset, len=asked.count)
        self._asked[request.header.sequence] = asked
        await self._sled.send(request)

    def _wait_s(self) -> float:
        oldest_s = min((one.sent_s for one in self._asked.values()), default=0.0)
        return max(0.01, oldest_s + self._patience_s - self._clock.mono_s())

    def _notice_lost(self) -> None:
        """What had no answer for too long is asked for again."""
        late_s = self._clock.mono_s() - self._patience_s
        for sequence, asked in list(self._asked.items()):
            if asked.sent_s <= late_s:
                del self._asked[sequence]
                self._again.append(asked)

    def _take(self, frame: bytes) -> None:
        asked = self._asked.pop(frame[_SEQUENCE_AT], None)
        if asked is None:
            return  # an answer that was thought lost
        for other in self._asked.values():
            other.sent_s = self._clock.mono_s()  # the line is alive: they stand behind this one
        packed = self._sled.taken(frame, Packed)
        octets = _unpacked(packed, asked)
        if octets is None:
            self._again.append(asked)
            return
        self._until = packed.len if self._until is None else min(self._until, packed.len)
        if octets:
            self._came[asked.offset] = octets
        rest = min(asked.count, self._until - asked.offset) - len(octets)
        block = self._sled.block_bytes
        if rest > 0:  # it did not fit into one answer
            tries = 0 if octets else asked.tries
            self._again.append(_Asked(asked.offset + len(octets), rest, tries=tries))
            self._sled.block_bytes = max(LEAST_BLOCK_BYTES, len(octets))
        elif len(octets) == block:
            self._sled.block_bytes = min(PACKED_BYTES, block + block // 8)


def _unpacked(packed: Packed, asked: _Asked) -> bytes | None:
    """The bytes of an answer; None where it is not an answer to this question."""
    if packed.off != asked.offset or packed.raw > asked.count:
        return None
    try:
        octets = zlib.decompressobj().decompress(packed.data, packed.raw + 1)
    except zlib.error:
        return None
    return octets if len(octets) == packed.raw else None


def _transport(way: Way) -> SMPTransport:
    """The way's transport; imported when it is used, for pyserial is not needed for UDP."""
    if way.port is None:
        from smpclient.transport.udp import SMPUDPTransport  # noqa: PLC0415  # see above

        return SMPUDPTransport()
    from smpclient.transport.serial import BufferSize, SMPSerialTransport  # noqa: PLC0415  # as above

    return SMPSerialTransport(BufferSize(REQUEST_BYTES), baudrate=way.baud, exclusive=True)


def ports() -> list[str]:
    """The serial ports at which a unit may be: USB gadgets, by the names that stay."""
    found = sorted(Path("/dev/serial/by-id").glob("*[Ss]ledwarden*"))
    found = found or sorted(Path("/dev").glob("ttyACM*"))
    return [str(one) for one in found]
