"""The journal: takes records without ever waiting, and keeps them from a thread of its own.

`put` only appends to a bounded queue. The thread encodes, frames, seals and syncs: one commit a
second, and one at once for an urgent record. Whatever the disk does, the judging thread goes on;
what could not be kept is counted, told by `health`, and stands in the journal as a gap once the
disk is back.
"""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS
from pathlib import Path

from firmware.clock import Clock
from firmware.errors import JournalError
from firmware.findings import Event, Pull
from firmware.journal import finish, folder, ledger, segment, stored
from firmware.journal.before import beginnings
from firmware.journal.dating import CLOCK_STEP_S, Dating, Item, before_step, contents, ns
from firmware.journal.folder import LEDGER, Lock, Place, Storage, beside
from firmware.journal.health import Acknowledged, Health, trouble_of
from firmware.journal.hearing import Hearing
from firmware.journal.keeper import Keeper
from firmware.journal.open_segment import OpenSegment
from firmware.journal.record import (
    GOES_ON,
    REVISION,
    Close,
    Gap,
    Note,
    Record,
    Start,
    encode,
    topic_of,
)
from firmware.journal.rekey import settle
from firmware.journal.room import MB, Left, Room
from firmware.journal.seal import Key, Kind
from firmware.journal.segment import TOPIC_IDS, Message
from firmware.readings import Disk, Missing, Why

COMMIT_S = 1.0
SHORTEST_COMMIT_S = 0.1
"""Real seconds: a ride that runs twenty times as fast must not sync twenty times as often."""
SEAL_S = 10.0
HEALTH_S = 10.0
ROLL_BYTES = 16 * 1024 * 1024
ROLL_S = 3600.0
QUEUE_RECORDS = 8192
"""More than a minute of a unit's readings: a card that stalls for less loses nothing."""
URGENT_RESERVE = 256
_SEGMENT_SURVIVES = (ENOSPC, EDQUOT, EROFS, EACCES, EPERM)


class Journal:
    """Keeps every record in sealed MCAP segments, from a thread of its own."""

    def __init__(
        self,
        folder: Path,
        start: Start,
        clock: Clock,
        *,
        attachments: Sequence[tuple[str, bytes]] = (),
        key_path: Path | None = None,
        quota_mb: int | None = None,
        on_change: Callable[[Health], None] | None = None,
        is_patient: bool = False,
        storage: Storage | None = None,
        keeper: Keeper | None = None,
        hearing: Hearing | None = None,
    ) -> None:
        """`on_change` is called from the journal's thread when the trouble, the losses or the
        notices change, and every 10 s; it must not block. `key_path` is FOLDER.key unless given.
        `is_patient`: `put` waits for room instead of losing (a replay, never the unit). `keeper`
        stores what is closed and keeps the ledger; without it, segments stay as they are sealed.
        `hearing` is told of each event, and hands over what the receiver said about it."""
        self._folder = folder
        digests = {name: hashlib.sha256(body).hexdigest() for name, body in attachments}
        self._start = replace(start, boot_id=start.boot_id or uuid.uuid4().hex, attachments=digests)
        self._clock = clock
        self._attachments = tuple(attachments)
        self._key_path = key_path or beside(folder, "key")
        self._room = Room(folder, None if quota_mb is None else quota_mb * MB)
        self._on_change = on_change
        self._is_patient = is_patient
        self._storage = storage or Storage()
        self._keeper = keeper
        self._hearing = hearing
        if hearing is not None:
            hearing.keep = self.put
        self._lock = Lock(folder)
        self._period_s = max(SHORTEST_COMMIT_S, clock.real_s(COMMIT_S))

        self.is_key_new = False
        """Whether the key was made by this start: people have not seen it yet."""

        # Between the threads: `put` on one side, the journal's thread on the other.
        self._queue: deque[Item] = deque()
        self._guard = threading.Lock()
        self._sequence = 0
        self._queued = 0
        self._lost = 0
        self._lost_run: Gap | None = None
        self._wake = threading.Event()
        self._safe = threading.Condition()
        self._closing: tuple[float, str] | None = None
        self._has_ended = False
        self._acknowledged = Acknowledged()
        self._left = Left()
        self._thread: threading.Thread | None = None

        # The journal's thread's own.
        self._batch: list[Item] = []
        self._segment: OpenSegment | None = None
        self._segments = 0
        self._given_up: tuple[Path, int] | None = None
        self._key: Key | None = None
        self._digest = ""
        self._trouble = ""
        self._notices: list[str] = []
        self._first_notes: list[Note] = []
        self._dating = Dating()
        self._home: Path | None = None
        self._begun_at_s = 0.0
        self._sealed_at_s = 0.0
        self._is_begun_dated = False
        self._kept_bytes = 0
        self._told: tuple[object, ...] = ()
        self._told_at_s = 0.0

    def open(self) -> None:
        """Locks the folder and starts the thread; raises JournalError if another process has it.

        A folder that can't be written raises nothing: `health` tells it, and it is tried again.
        """
        try:
            self._lock.take()
        except OSError as fault:
            self._trouble = trouble_of(fault)
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(
        self, record: Record, at_s: float, utc: datetime | None = None, *, urgent: bool = False
    ) -> int:
        """Hands over a record and returns its number; never blocks, never raises.

        `utc` is the best date known now. An urgent record is on its way to the disk at once.
        """
        if self._is_patient:
            self._wait_for_room()
        if self._hearing is not None and isinstance(record, Event | Pull):
            self._hearing.tell(at_s)
        with self._guard:
            self._sequence += 1
            room = QUEUE_RECORDS + (URGENT_RESERVE if urgent else 0) - len(self._queue)
            if room <= 0:
                self._lose(at_s)
                return self._sequence
            if self._lost_run is not None:
                self._queue.append(Item(self._sequence, at_s, utc, self._lost_run, False))
                self._lost_run = None
            self._queue.append(Item(self._sequence, at_s, utc, record, urgent))
            self._queued = self._sequence
        if urgent or room == QUEUE_RECORDS // 2:
            self._wake.set()
        return self._sequence

    def _wait_for_room(self) -> None:
        while len(self._queue) >= QUEUE_RECORDS // 2 and not self._trouble:
            self._wake.set()
            with self._safe:
                self._safe.wait(SHORTEST_COMMIT_S)

    def _lose(self, at_s: float) -> None:
        self._lost += 1
        run = self._lost_run
        if run is None:
            why = self._trouble or "the disk was too slow"
            self._lost_run = Gap(1, why, at_s, at_s)
        else:
            self._lost_run = replace(run, lost=run.lost + 1, to_s=at_s)

    @property
    def boot_id(self) -> str:
        """The name of this boot, as its start records and seals say it."""
        return self._start.boot_id

    @property
    def public_key(self) -> str:
        """The public key that seals, in hex; empty until the folder could be had."""
        return "" if self._key is None else self._key.public

    @property
    def fingerprint(self) -> str:
        """What stands for that key; empty as it is."""
        return "" if self._key is None else self._key.fingerprint

    @property
    def acknowledged(self) -> Acknowledged:
        """The last record that a power cut can't take."""
        return self._acknowledged

    def health(self) -> Health:
        """How the journal is doing now; never blocks."""
        value: Disk | Missing = Disk(self._left.free_mb, self._lost, self._left.is_low)
        if self._thread is not None and not self._thread.is_alive() and self._closing is None:
            value = Missing(Why.NO_ANSWER, "the journal's thread has ended")
        elif self._trouble:
            value = Missing(Why.NO_ANSWER, self._trouble)
        elif self._home is None:
            value = Missing(Why.STARTING)
        one = self._segment
        return Health(
            value,
            self._acknowledged,
            len(self._queue) + len(self._batch),
            one.path if one is not None else None,
            tuple(self._notices),
        )

    def forget(self, boot: int, number: int | None, by: str) -> None:
        """Deletes a boot, or one segment of it, as its owner asks; never blocks.

        What still grows is not deleted. The ledger keeps that it was there.
        """
        if self._keeper is not None:
            growing = self._segment
            self._keeper.forget(boot, number, by, growing.end_ns if growing is not None else 0)

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Waits until all that was put is safe; false when the time (real seconds) is over."""
        wanted = self._queued
        self._wake.set()
        with self._safe:
            return self._safe.wait_for(lambda: self._acknowledged.sequence >= wanted, timeout_s)

    def close(self, at_s: float, why: str = "stopped", timeout_s: float = 0.9) -> bool:
        """Seals and ends the segment, ends the thread and frees the folder; true if all is safe.

        Where the disk does not answer within the time (real seconds), it leaves the rest to the
        next start.
        """
        self._closing = (at_s, why)
        self._wake.set()
        if self._thread is None:
            return False
        self._thread.join(timeout_s)
        return self._has_ended and not self._trouble

    # From here on: the journal's thread.

    def _run(self) -> None:
        while True:
            closing = self._closing
            if not (self._trouble and self._batch):
                self._drain()
            try:
                self._keep()
                if closing is not None:
                    self._end(*closing)
                self._trouble = ""
            except (OSError, JournalError, ImportError) as fault:
                self._fail(fault)
            self._tell()
            with self._safe:
                self._safe.notify_all()
            if closing is not None:
                break
            if self._trouble or not self._queue or not self._is_patient:
                self._wake.wait(self._period_s)
            self._wake.clear()
        if self._segment is not None:
            self._segment.abandon()
        self._has_ended = True
        if self._keeper is None or self._keeper.stop():
            self._lock.free()  # else the end of the process frees it

    def _drain(self) -> None:
        with self._guard:
            self._batch.extend(self._queue)
            self._queue.clear()

    def _keep(self) -> None:
        """Brings the whole batch to the disk, in as many segments as it takes."""
        if self._home is None:
            self._home = self._prepared()
        while self._batch:
            if self._segment is None:
                self._segment = self._begun(self._home)
            run = self._run_before_roll()
            if run == 0:
                self._close_segment(self._batch[0].at_s, GOES_ON)
                continue
            items = self._batch[:run]
            last_s = items[-1].at_s
            kind: Kind | None = None
            if any(item.is_urgent for item in items):
                kind = "event"
            elif last_s - self._sealed_at_s >= SEAL_S:
                kind = "time"
            known = self._dating.pair
            recall = self._segment.recall.copy()
            chunks, refused = contents(items, self._dating, self._segment.end_ns, recall)
            try:
                self._commit(self._segment, chunks, ns(last_s), kind)
            except OSError:
                self._dating.pair = known
                raise
            self._segment.recall = recall
            self._lost += refused
            if kind is not None:
                self._sealed_at_s = last_s
            del self._batch[:run]
            self._trouble = ""
            self._acknowledged = Acknowledged(items[-1].sequence, last_s)

    def _commit(
        self, to: OpenSegment, chunks: Sequence[bytes], publish_ns: int, kind: Kind | None
    ) -> None:
        self._room.refuse_beyond(self._closed_bytes + to.end, sum(map(len, chunks)))
        to.commit(chunks, publish_ns, kind)

    @property
    def _closed_bytes(self) -> int:
        return self._kept_bytes if self._keeper is None else self._keeper.kept_bytes

    def _run_before_roll(self) -> int:
        """How many items of the batch belong into the open segment; 0 when it must end first."""
        assert self._segment is not None
        age_s = self._batch[0].at_s - self._begun_at_s
        if self._segment.end >= ROLL_BYTES or age_s >= ROLL_S:
            return 0
        return before_step(
            self._batch,
            self._segment.end_ns,
            is_dated=self._is_begun_dated,
            may_step=age_s >= CLOCK_STEP_S,
        )

    def _prepared(self) -> Path:
        """The folder of this boot, locked, after finishing what an earlier start left torn."""
        self._lock.take()
        if self._key is None:
            is_made = not self._key_path.exists()
            settle(self._folder, self._key_path)
            self._key = Key.load(self._key_path)
            self.is_key_new = is_made
        places = folder.segments(self._folder)
        if not self._start.boot:
            boot = folder.next_boot(self._folder, self._storage)
            self._start = replace(self._start, boot=boot)
        self._finish_torn(places, self._key)
        home = self._folder / folder.boot_name(self._start.boot, self._start.boot_id)
        if not home.exists():
            home.mkdir()
            self._storage.sync_folder(self._folder)
        return home

    def _finish_torn(self, places: Sequence[Place], key: Key) -> None:
        """Finishes the torn ones, and finds the digest that the next segment goes on from."""
        if self._given_up is not None and self._given_up[0].exists():
            os.truncate(*self._given_up)  # what was not safe there is written again elsewhere
        self._given_up = None
        newest = max((place.boot for place in places), default=0)
        for index, place in enumerate(places):
            if stored.form_of(place.path) != stored.RAW:
                continue  # it was whole before it was stored
            is_suspect = place.boot == newest or not finish.has_good_magic(place.path)
            if is_suspect and not finish.has_good_ending(place.path):
                before = self._digest_of(places[index - 1]) if index else ""
                self._notices.append(
                    finish.finish(
                        place,
                        self._start.unit,
                        before,
                        self._start.boot,
                        f"sledwarden {self._start.software}",
                        key,
                        self._storage,
                    )
                )
        if places:
            self._digest = self._before(places[-1], key) or self._digest
        self._kept_bytes = sum(place.path.stat().st_size for place in places)
        if self._keeper is not None:
            self._keeper.begin(key)

    def _before(self, place: Place, key: Key) -> str:
        """The digest that this boot goes on from; notes how it differs from the boot before."""
        if stored.form_of(place.path) == stored.LOCKED:
            return self._digest_of(place)
        last = finish.last_words(place.path)
        is_first = self._segments == 0 and place.boot < self._start.boot
        if is_first and self._keeper is not None:  # a copy has no boot before it
            self._first_notes = beginnings(self._start, last, key, place.path.parent.name)
        return last.digest

    def _digest_of(self, place: Place) -> str:
        """The digest of a segment's last seal; of a stored one as the ledger has it."""
        if stored.form_of(place.path) != stored.RAW:
            known = ledger.digest_of(self._folder / LEDGER, place.boot, place.segment)
            if known or stored.form_of(place.path) == stored.LOCKED:
                return known
        return finish.last_digest(place.path)

    def _begun(self, home: Path) -> OpenSegment:
        """The next segment; it is dated if any record of the batch is."""
        assert self._key is not None
        at_s = self._batch[0].at_s
        dated = next((item for item in self._batch if item.utc is not None), None)
        if dated is not None and (self._dating.pair is None or self._batch[0] is dated):
            self._dating.log_time_ns(dated.at_s, dated.utc)
        self._segments += 1
        while (home / f"{self._segments:06d}.mcap").exists():
            self._segments += 1
        start = replace(
            self._start,
            segment=self._segments,
            key=self._key.fingerprint,
            previous=self._digest,
            revision=REVISION,
        )
        one = OpenSegment.begin(
            home / f"{start.segment:06d}.mcap",
            start,
            self._attachments,
            at_s,
            self._dating.log_time_ns(at_s),
            self._key,
            self._storage,
        )
        if self._keeper is not None:
            self._keeper.began(start, one.digest, one.path, one.end_ns)
        utc = self._batch[0].utc
        self._batch[:0] = [Item(0, at_s, utc, note, True) for note in self._first_notes]
        self._first_notes = []
        self._begun_at_s = self._sealed_at_s = at_s
        self._is_begun_dated = self._dating.pair is not None
        return one

    def _close_segment(self, at_s: float, why: str) -> None:
        """Ends the segment in good order: a closing record, the last seal, the ending."""
        one = self._segment
        assert one is not None
        last = Close(why, one.records + 1, self._lost)
        log_ns = max(one.end_ns, self._dating.log_time_ns(at_s))
        message = Message(TOPIC_IDS[topic_of(last)], 0, log_ns, ns(at_s), encode(last, at_s))
        one.commit([segment.packed([message])], ns(at_s), "close")
        self._segment = None
        self._digest = one.digest
        one.finish()
        self._kept_bytes += one.path.stat().st_size
        if self._keeper is not None:
            self._keeper.closed(one.path, one.end_ns)

    def _end(self, at_s: float, why: str) -> None:
        if self._keeper is not None:
            self._keeper.rest()
        with self._guard:
            run, self._lost_run = self._lost_run, None
        if run is not None:
            self._batch.append(Item(self._sequence, at_s, None, run, False))
        if run is not None or self._segments == 0:
            self._keep()
        if self._segment is not None:
            self._close_segment(at_s, why)

    def _fail(self, fault: OSError | JournalError | ImportError) -> None:
        """Remembers the trouble; gives up a file that can't be continued, never the records."""
        self._trouble = trouble_of(fault)
        survives = isinstance(fault, OSError) and fault.errno in _SEGMENT_SURVIVES
        if self._segment is not None and not survives:
            self._digest = self._segment.digest
            self._given_up = (self._segment.path, self._segment.end)
            self._segment.abandon()
            self._segment = None
        if not survives:
            self._home = None

    def _tell(self) -> None:
        """Calls `on_change` where something is to be told."""
        growing = self._segment.end if self._segment is not None else 0
        self._left = self._room.left(self._closed_bytes + growing)
        told = (self._trouble, self._lost, tuple(self._notices), self._left.is_low)
        now_s = self._clock.mono_s()
        if self._on_change and (told != self._told or now_s - self._told_at_s >= HEALTH_S):
            self._told, self._told_at_s = told, now_s
            self._on_change(self.health())
