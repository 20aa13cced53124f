"""What each request is answered: SMP's OS and file groups, and our own group 64 (docs/link.md)."""

from __future__ import annotations

import logging
import platform
import zlib
from collections import OrderedDict
from typing import Annotated, TypeVar

from msgspec import Meta, Struct
from smp.error import MGMT_ERR
from smp.file_management import FS_MGMT_ERR
from smp.header import OP, CommandId, GroupId
from smp.os_management import OS_MGMT_RET_RC

from firmware import __released__, __version__
from firmware.errors import ConfigError, LawError, SledwardenError, ZoneError
from firmware.journal.record import FORMAT
from firmware.link import frames
from firmware.link.door import Client, Door
from firmware.link.frames import Body, GroupRefusal, Refusal, Request, file_refusal
from firmware.link.handling import (
    LONGEST_REPLY_BYTES,
    ROOM_FOR_NAMES,
    Handler,
    Name,
    Offset,
    Way,
    taken,
)
from firmware.link.intake import STAGING, Intake, IntakeError
from firmware.link.service import Service, Write
from firmware.link.shelf import Shelf
from firmware.port.messages import GROUP, PACKED_BYTES, Command
from firmware.signing import KEY_BYTES, SIGNATURE_BYTES

BUFFERS = 8
"""How many requests a client may have under way: they wait in the line's own buffers."""

MAX_CLIENTS = 32
_MORE = " ... and more."
_LEVEL = 6  # zlib's own choice; 4.6 ms for 64 KiB of a journal on the slowest Pi that is fitted

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Key = Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]
Signature = Annotated[bytes, Meta(min_length=SIGNATURE_BYTES, max_length=SIGNATURE_BYTES)]


class _Nothing(Struct):
    pass


class _Echo(Struct):
    d: str


class _About(Struct):
    format: str = "s"


class _Read(Name):
    off: Offset


class _ReadPacked(_Read):
    len: Annotated[int, Meta(ge=1)] = PACKED_BYTES


class _Hash(Name):
    type: str = "sha256"
    off: Offset = 0
    len: Offset | None = None


class _Proof(Struct):
    key: Key
    signature: Signature


class _Host(_Proof):
    name: Annotated[str, Meta(pattern="^[ -~]{1,64}\\Z")]


class Server:
    """Answers messages; what it remembers of each client is little and bounded."""

    def __init__(self, door: Door, shelf: Shelf, unit: str, intake: Intake | None = None) -> None:
        """Without an intake nothing that is brought is taken: no configuration is known."""
        self._door = door
        self._shelf = shelf
        self._unit = unit
        self._service = Service(door, intake)
        self._clients: OrderedDict[str, Client] = OrderedDict()
        both = OP.READ, OP.WRITE
        os, file = CommandId.OSManagement, CommandId.FileManagement
        self._open: dict[tuple[int, int, int], Handler] = {}
        self._shut: dict[tuple[int, int, int], Handler] = {}
        for op in both:
            self._open[GroupId.OS_MANAGEMENT, os.ECHO, op] = self._echo
        self._open |= {
            (GroupId.OS_MANAGEMENT, os.MCUMGR_PARAMETERS, OP.READ): self._parameters,
            (GroupId.OS_MANAGEMENT, os.OS_APPLICATION_INFO, OP.READ): self._about,
            (GroupId.OS_MANAGEMENT, os.DATETIME_STRING, OP.READ): self._date,
            (GROUP, Command.IDENTITY, OP.READ): self._identity,
            (GROUP, Command.HEALTH, OP.READ): self._health,
            (GROUP, Command.SESSION, OP.READ): self._session,
            (GROUP, Command.SESSION, OP.WRITE): self._ask,
            (GROUP, Command.PROOF, OP.READ): self._challenge,
            (GROUP, Command.PROOF, OP.WRITE): self._prove,
        }
        group = GroupId.FILE_MANAGEMENT
        self._shut |= {
            (group, file.FILE_DOWNLOAD_UPLOAD, OP.READ): self._download,
            (group, file.FILE_DOWNLOAD_UPLOAD, OP.WRITE): self._upload,
            (group, file.FILE_STATUS, OP.READ): self._status,
            (group, file.FILE_HASH_CHECKSUM, OP.READ): self._hash,
            (group, file.SUPPORTED_FILE_HASH_CHECKSUM_TYPES, OP.READ): self._hash_types,
            (group, file.FILE_CLOSE, OP.WRITE): self._close,
            (GROUP, Command.HOST, OP.WRITE): self._enroll,
            (GROUP, Command.PACKED, OP.READ): self._packed,
        }
        self._shut |= self._service.handlers

    def answer(self, message: bytes, who: str, way: Way) -> bytes | None:
        """The answer to a message of the client of this name; None for what is not answered."""
        try:
            request = frames.parse(message)
        except frames.NoAnswer:
            return None
        except frames.Refused as refused:
            return _refused(refused.request, refused.refusal, way)
        try:
            reply = frames.answer(request, self._handle(request, self._client(who), way))
            if len(reply) > _most_bytes(request, way):
                raise Refusal(MGMT_ERR.ENOMEM, "the answer is too long for this way in.")
        except Refusal as refusal:
            return _refused(request, refusal, way)
        except (IntakeError, ConfigError, LawError, ZoneError) as fault:
            return _refused(request, Refusal(MGMT_ERR.EINVAL, f"{fault}"), way)
        except (OSError, SledwardenError) as fault:
            _log.warning("%s", fault)
            what = fault.strerror if isinstance(fault, OSError) else fault
            return _refused(request, Refusal(MGMT_ERR.EUNKNOWN, f"the unit can't: {what}"), way)
        return reply

    def forget(self, who: str) -> None:
        """Ends what a client had opened for itself: its line is gone."""
        self._clients.pop(who, None)
        self._service.forget(who)

    def _client(self, who: str) -> Client:
        client = self._clients.setdefault(who, Client(who))
        self._clients.move_to_end(who)
        while len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
        return client

    def _handle(self, request: Request, client: Client, way: Way) -> Body:
        address = request.group, request.command, request.op
        handler = self._open.get(address)
        if handler is not None:
            return handler(request.body, client, way)
        handler = self._shut.get(address)
        if handler is None:
            words = f"group {request.group} has no command {request.command} for {request.op.name}."
            raise Refusal(MGMT_ERR.ENOTSUP, words)
        words = self._door.refusal(client)
        if words:
            self._door.ask()
            raise Refusal(MGMT_ERR.EACCESSDENIED, words)
        self._door.note(client)
        return handler(request.body, client, way)

    # OS group.

    def _echo(self, body: Body, _client: Client, _way: Way) -> Body:
        return {"r": taken(body, _Echo).d}

    def _parameters(self, _body: Body, _client: Client, way: Way) -> Body:
        size = min(frames.MAX_MESSAGE_BYTES, way.reply_bytes)
        return {"buf_size": size, "buf_count": BUFFERS}

    def _about(self, body: Body, _client: Client, _way: Way) -> Body:
        words = {
            "s": "sledwarden",
            "n": self._unit,
            "r": __version__,
            "v": f"journal {FORMAT}",
            "b": __released__,
            "m": platform.machine(),
            "p": platform.machine(),
            "i": "sledwarden",
            "o": platform.system(),
        }
        wanted = taken(body, _About).format or "s"
        if not set(wanted) <= {*words, "a"}:
            raise GroupRefusal(
                GroupId.OS_MANAGEMENT,
                OS_MGMT_RET_RC.INVALID_FORMAT,
                MGMT_ERR.EINVAL,
                f"format = {wanted[:20]!r}: must be letters of {''.join(words)}, or a for all.",
            )
        chosen = [word for letter, word in words.items() if "a" in wanted or letter in wanted]
        return {"output": " ".join(chosen)}

    def _date(self, _body: Body, _client: Client, _way: Way) -> Body:
        state = self._door.state
        if state is None or state.utc is None:
            raise GroupRefusal(
                GroupId.OS_MANAGEMENT,
                OS_MGMT_RET_RC.RTC_NOT_SET,
                MGMT_ERR.EBADSTATE,
                "the unit has no date that it believes.",
            )
        return {"datetime": f"{state.utc:%Y-%m-%dT%H:%M:%S}.{state.utc.microsecond // 1000:03d}"}

    # File group.

    def _download(self, body: Body, client: Client, way: Way) -> Body:
        wanted = taken(body, _Read)
        found = self._shelf.begin(client.name, wanted.name, wanted.off)
        _check_offset(wanted.off, found.length)
        octets = found.read(wanted.off, way.reply_bytes - ROOM_FOR_NAMES)
        return {"off": wanted.off, "len": found.length, "data": octets}

    def _upload(self, body: Body, _client: Client, _way: Way) -> Body:
        sent = taken(body, Write)
        return {"off": self._service.intake.write(sent.name, sent.off, sent.data, sent.len)}

    def _status(self, body: Body, client: Client, _way: Way) -> Body:
        name = taken(body, Name).name
        if name.startswith(STAGING):
            return {"len": self._service.intake.size(name)}
        return {"len": self._shelf.look_up(client.name, name).length}

    def _hash(self, body: Body, client: Client, _way: Way) -> Body:
        wanted = taken(body, _Hash)
        if wanted.type not in ("crc32", "sha256"):
            words = f"type = {wanted.type[:20]!r}: must be crc32 or sha256."
            raise file_refusal(FS_MGMT_ERR.CHECKSUM_HASH_NOT_FOUND, words)
        is_staged = wanted.name.startswith(STAGING)
        found = None if is_staged else self._shelf.look_up(client.name, wanted.name)
        length = self._service.intake.size(wanted.name) if found is None else found.length
        _check_offset(wanted.off, length)
        count = length - wanted.off
        if wanted.len is not None:
            count = min(count, wanted.len)
        if found is not None:
            output = self._shelf.digest(found, wanted.type, wanted.off, count)
        else:
            output = self._service.intake.digest(wanted.name, wanted.type, wanted.off, count)
        offset = {"off": wanted.off} if wanted.off else {}
        return {"type": wanted.type, **offset, "len": count, "output": output}

    def _hash_types(self, _body: Body, _client: Client, _way: Way) -> Body:
        types = {"crc32": {"format": 0, "size": 4}, "sha256": {"format": 1, "size": 32}}
        return {"types": types}

    def _close(self, _body: Body, _client: Client, _way: Way) -> Body:
        return {}  # no file is held open between requests

    # Group 64.

    def _identity(self, _body: Body, _client: Client, _way: Way) -> Body:
        owner = self._shelf.owner
        return {
            "unit": self._unit,
            "key": bytes.fromhex(owner.public_key),
            "fingerprint": owner.fingerprint,
            "software": f"sledwarden {__version__}",
            "journal": FORMAT,
        }

    def _health(self, _body: Body, _client: Client, _way: Way) -> Body:
        """How the unit does, and nothing of where, when or how fast."""
        state = self._door.state
        if state is None:
            return {"heard": False, "why": self._door.trouble}
        return {
            "heard": True,
            "watching": state.is_watching,
            "standing": state.is_standing,
            "gps": state.gps,
            "head_lamp": state.head_lamp,
            "tail_lamp": state.tail_lamp,
            "tether": state.tether,
            "engine": state.engine,
            "journal": state.journal,
        }

    def _session(self, body: Body, client: Client, _way: Way) -> Body:
        refusal = self._door.refusal(client)
        told: Body = {
            "open": not refusal,
            "how": self._door.how(client),
            "why": refusal,
            "asking": self._door.is_asking,
            "left_s": round(self._door.left_s),
        }
        if "key" in body:
            told["enrolled"] = self._door.is_enrolled(taken(body, _KeyAlone).key)
        return told

    def _ask(self, _body: Body, client: Client, way: Way) -> Body:
        if self._door.refusal(client):
            self._door.ask()
        return self._session({}, client, way)

    def _challenge(self, _body: Body, client: Client, _way: Way) -> Body:
        return {"nonce": self._door.challenge(client)}

    def _prove(self, body: Body, client: Client, way: Way) -> Body:
        proof = taken(body, _Proof)
        words = self._door.prove(client, proof.key, proof.signature, self._shelf.owner.public_key)
        if words:
            raise Refusal(MGMT_ERR.EACCESSDENIED, words)
        return self._session({}, client, way)

    def _enroll(self, body: Body, client: Client, _way: Way) -> Body:
        host = taken(body, _Host)
        words, why = self._door.enroll(
            client, host.key, host.name, host.signature, self._shelf.owner.public_key
        )
        if why:
            raise Refusal(MGMT_ERR.EACCESSDENIED, why)
        return {"words": words}

    def _packed(self, body: Body, client: Client, way: Way) -> Body:
        """A stretch of a file, deflated by itself, so that any one can be asked for again."""
        wanted = taken(body, _ReadPacked)
        found = self._shelf.begin(client.name, wanted.name, wanted.off)
        _check_offset(wanted.off, found.length)
        octets = found.read(wanted.off, min(wanted.len, PACKED_BYTES))
        room = way.reply_bytes - ROOM_FOR_NAMES
        packed = zlib.compress(octets, _LEVEL)
        while len(packed) > room:
            # as much less as it is too long, and a little for what is lost on a shorter stretch
            octets = octets[: max(1, len(octets) * room * 9 // (len(packed) * 10))]
            packed = zlib.compress(octets, _LEVEL)
        return {"off": wanted.off, "len": found.length, "raw": len(octets), "data": packed}


def _most_bytes(request: Request, way: Way) -> int:
    """How long an answer may be. That which files there are can't be asked for in parts."""
    is_of_files = (request.group, request.command) == (GROUP, Command.INSTALL)
    return LONGEST_REPLY_BYTES if is_of_files else way.reply_bytes


def _refused(request: Request, refusal: Refusal, way: Way) -> bytes:
    """The answer that refuses, its words cut to what the way carries: faults may be many."""
    octets = refusal.words.encode(errors="replace")
    room = way.reply_bytes - ROOM_FOR_NAMES
    if len(octets) > room:
        octets = octets[: room - len(_MORE)]
        refusal.words = octets.decode(errors="ignore") + _MORE
    return frames.refuse(request, refusal)


class _KeyAlone(Struct):
    key: Key


def _check_offset(offset: int, length: int) -> None:
    if offset > length:
        words = f"off = {offset}: must be {length} at most, the length of the file."
        raise file_refusal(FS_MGMT_ERR.FILE_OFFSET_LARGER_THAN_FILE, words)
