"""SMP on the wire: bytes of a serial line into messages, messages into requests, answers back.

The serial framing is that of `smp.packet`: lines that begin with 06 09 (a message begins) or 04 14
(it goes on), base64 of length, message and CRC-16, a line feed. A datagram is a message as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import cbor2
from smp import packet
from smp.error import MGMT_ERR
from smp.exceptions import SMPException
from smp.file_management import FS_MGMT_ERR
from smp.header import OP, GroupId, Version

from firmware.port.messages import REQUEST_BYTES
from firmware.port.plain import MOST_DEEP, is_plain

LINE_BYTES = 128
"""The longest line that is sent: SMP's convention."""

MAX_LINE_BYTES = 4096
MAX_MESSAGE_BYTES = REQUEST_BYTES

_HEADER = struct.Struct("!BBHHBB")  # op and version, flags, length, group, sequence, command
_OP_MASK, _VERSION_SHIFT, _VERSION_MASK = 0b111, 3, 0b11

Body = dict[str, Any]
"""What CBOR gives: checked where it is used."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a client; `body` is what came with it."""

    op: OP
    version: int
    group: int
    sequence: int
    command: int
    body: Body


class Refusal(Exception):  # noqa: N818  # an answer, not a fault of ours
    """A request that is answered with a code of SMP's own, and words."""

    def __init__(self, code: MGMT_ERR, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.words = words


class GroupRefusal(Refusal):
    """A request that is answered with a code of its group; SMP version 2 has no words for it."""

    def __init__(self, group: GroupId, group_code: int, code: MGMT_ERR, words: str) -> None:
        super().__init__(code, words)
        self.group = group
        self.group_code = group_code


def file_refusal(code: FS_MGMT_ERR, words: str) -> GroupRefusal:
    """A refusal of the file group, with what is nearest to it in SMP version 1."""
    absent = (FS_MGMT_ERR.FILE_NOT_FOUND, FS_MGMT_ERR.FILE_IS_DIRECTORY)
    old = MGMT_ERR.ENOENT if code in absent else MGMT_ERR.EINVAL
    return GroupRefusal(GroupId.FILE_MANAGEMENT, code, old, words)


class NoAnswer(Exception):  # noqa: N818  # see Refusal
    """Something that is not to be answered: no message, or somebody's answer."""


class FrameCutter:
    """Cuts the bytes of a serial line into messages, as they come; passes over all else.

    What is torn, false or too long is forgotten, and the next line that begins a message is taken:
    its sender asks again. Holds at most one message and one line.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_skipping = False
        self._decoder: Generator[None, bytes, bytes] | None = None
        self._held_bytes = 0

    def cut(self, octets: bytes) -> list[bytes]:
        """The messages that ended in these bytes."""
        messages = []
        *ended, rest = octets.split(packet.END_DELIMITER)
        for part in ended:
            self._take(part)
            message = None if self._is_skipping else self._end_line(bytes(self._line))
            if message is not None:
                messages.append(message)
            self._line.clear()
            self._is_skipping = False
        self._take(rest)
        return messages

    def _take(self, part: bytes) -> None:
        if len(self._line) + len(part) > MAX_LINE_BYTES:
            self._line.clear()
            self._is_skipping = True
        if not self._is_skipping:
            self._line += part

    def _end_line(self, line: bytes) -> bytes | None:
        begin = line.rfind(packet.START_DELIMITER)  # before it may stand a console's words
        if begin >= 0:
            self._decoder = packet.decode()
            next(self._decoder)
            self._held_bytes = 0
            line = line[begin:]
        else:
            begin = line.rfind(packet.CONTINUE_DELIMITER)
            if begin < 0:
                return None
            line = line[begin:]
        self._held_bytes += len(line)
        if self._decoder is None:
            return None
        try:
            if self._held_bytes > 2 * MAX_MESSAGE_BYTES:  # base64 is a third longer
                raise ValueError("too long")
            self._decoder.send(line + packet.END_DELIMITER)
        except StopIteration as ended:
            self._decoder = None
            return bytes(ended.value)
        except (SMPException, ValueError, struct.error):
            self._decoder = None
        return None


def framed(message: bytes) -> bytes:
    """A message as the lines of a serial line."""
    return b"".join(packet.encode(message, line_length=LINE_BYTES))


def parse(message: bytes) -> Request:
    """The request in a message; raises `Refused` where it must be answered with what is wrong,
    `NoAnswer` where it is no request."""
    if len(message) < _HEADER.size:
        raise NoAnswer("shorter than a header")
    first, _, length, group, sequence, command = _HEADER.unpack_from(message)
    op, version = first & _OP_MASK, first >> _VERSION_SHIFT & _VERSION_MASK
    if op not in (OP.READ, OP.WRITE):
        raise NoAnswer("not a request")
    bare = Request(OP(op), version, group, sequence, command, {})
    if version > Version.V2:
        words = f"speaks SMP version {version + 1}: must be 1 or 2."
        raise Refused(bare, Refusal(MGMT_ERR.UNSUPPORTED_TOO_NEW, words))
    if len(message) > MAX_MESSAGE_BYTES:
        words = f"has {len(message)} bytes: must be {MAX_MESSAGE_BYTES} at most."
        raise Refused(bare, Refusal(MGMT_ERR.ENOMEM, words))
    if length != len(message) - _HEADER.size:
        words = f"says that {length} bytes follow, and {len(message) - _HEADER.size} do."
        raise Refused(bare, Refusal(MGMT_ERR.EINVAL, words))
    return Request(bare.op, version, group, sequence, command, _body(bare, message[_HEADER.size :]))


class Refused(Exception):  # noqa: N818  # see Refusal
    """A message that is no good request, with what can be known of it, and how it is answered."""

    def __init__(self, request: Request, refusal: Refusal) -> None:
        super().__init__(refusal.words)
        self.request = request
        self.refusal = refusal


def _body(request: Request, octets: bytes) -> Body:
    if octets and not is_plain(octets):
        words = f"is not plain CBOR: no tags, {MOST_DEEP} deep at most, and nothing after it."
        raise Refused(request, Refusal(MGMT_ERR.EINVAL, words))
    try:
        body = cbor2.loads(octets) if octets else {}
    except (cbor2.CBORError, ValueError, TypeError) as fault:
        raise Refused(request, Refusal(MGMT_ERR.EINVAL, "is not CBOR.")) from fault
    if not isinstance(body, dict) or not all(isinstance(key, str) for key in body):
        raise Refused(request, Refusal(MGMT_ERR.EINVAL, "must be a CBOR map of names."))
    return body


def answer(request: Request, body: Mapping[str, object]) -> bytes:
    """The message that answers a request."""
    octets = cbor2.dumps(body)
    return (
        _HEADER.pack(
            (request.op + 1) | request.version << _VERSION_SHIFT,
            0,
            len(octets),
            request.group,
            request.sequence,
            request.command,
        )
        + octets
    )


def refuse(request: Request, refusal: Refusal) -> bytes:
    """The message that refuses a request, in the form of its version of SMP."""
    if isinstance(refusal, GroupRefusal) and request.version == Version.V2:
        code = {"group": int(refusal.group), "rc": int(refusal.group_code)}
        return answer(request, {"err": code})
    return answer(request, {"rc": int(refusal.code), "rsn": refusal.words})
