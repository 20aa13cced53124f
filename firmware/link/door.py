"""Who may take what: nothing leaves the unit without a person at it.

A window of ten minutes is opened by the rider's button: the glass asks, and a hold answers. A host
that was enrolled in such a window may later prove its key instead. Neither counts unless the sled
surely stands and its daemon is heard; a ride ends both.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from firmware.clock import Clock
from firmware.feed.client import FeedClient
from firmware.link.enrolled import Enrolled
from firmware.port.hosts import NONCE_BYTES, is_proof, words_of
from firmware.state import State

WINDOW_S = 600.0
QUESTION_S = 30.0
"""So long the glass asks; real seconds."""
QUIET_S = 30.0
"""So long it asks nothing after a question that nobody answered: a stranger on the network must
not be able to keep a question on the glass."""
NONCE_S = 60.0
RIDES_MPH = 5.0
"""At this speed the sled is ridden: what was opened is shut for good."""

OPEN_QUESTION = "HOLD BUTTON TO OPEN PORT?"
BY = "sledwarden-link"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Client:
    """What is remembered of one client: its way in and address are its name."""

    name: str
    nonce: bytes = b""
    nonce_s: float = 0.0
    proven_s: float | None = None
    """When it proved its key; absent where it has not."""
    host: str = ""
    noted_s: float | None = None
    """When the journal was told that this client reads it."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A host that waits to be enrolled: the glass shows its words, a hold says yes."""

    key: bytes
    name: str
    question: str


class Door:
    """Knows from the feed whether a person has opened the port, and asks them to."""

    def __init__(self, feed: FeedClient, clock: Clock, enrolled: Enrolled) -> None:
        self._feed = feed
        self._clock = clock
        self._enrolled = enrolled
        self._window_ends_s: float | None = None
        self._opened_s = 0.0
        self._shut_s = 0.0
        self._pid: int | None = None
        self._question = ""
        self._asked_s = -QUESTION_S - QUIET_S
        self._asked_at_s = 0.0
        self._pending: Pending | None = None

    @property
    def state(self) -> State | None:
        """The unit's state, where it is heard now."""
        return self._feed.state if self._feed.is_alive else None

    @property
    def trouble(self) -> str:
        """Why the unit is not heard; empty where it is."""
        if self._feed.is_alive:
            return ""
        return self._feed.trouble or "it says nothing"

    @property
    def left_s(self) -> float:
        """How long the window is still open; 0.0 where it is not."""
        ends_s = self._window_ends_s
        return 0.0 if ends_s is None else max(0.0, ends_s - self._clock.mono_s())

    def look(self) -> None:
        """Hears the unit, and notices holds, rides and ends; to be called some times a second."""
        for message in self._feed.poll(0.0):
            if isinstance(message, State):
                self._take(message)
        if self._feed.hello is not None and self._feed.hello.pid != self._pid:
            if self._pid is not None:
                self._shut("the unit was started anew")
            self._pid = self._feed.hello.pid
            self._question = ""
        now_s = self._clock.mono_s()
        if self._question and now_s >= self._asked_s + QUESTION_S:
            self._withdraw()
        if self._window_ends_s is not None and now_s >= self._window_ends_s:
            self._shut("the ten minutes are over")

    def open_for_a_desk(self) -> None:
        """Opens the window without a button: for a simulated unit alone, as its caller has seen."""
        self._open("by --open")

    def refusal(self, client: Client) -> str:
        """Why this client may not read the journal now, in words; empty where it may."""
        state = self.state
        if state is None:
            return f"the unit's daemon is not heard ({self.trouble}): nothing is given out."
        if not state.is_standing:
            return "the sled moves, or can't tell that it stands: nothing is given out."
        if self.left_s > 0.0 or self._is_proven(client):
            return ""
        return "the port is shut: hold the rider's button when the glass asks, then try again."

    def how(self, client: Client) -> str:
        """By what this client may read the journal: button, host, or nothing."""
        if self.refusal(client):
            return ""
        return "button" if self.left_s > 0.0 else "host"

    def note(self, client: Client) -> None:
        """Lets the journal know, once for each opening, who reads it."""
        is_window = self.left_s > 0.0
        begun_s = self._opened_s if is_window else client.proven_s or 0.0
        if client.noted_s is not None and client.noted_s >= begun_s:
            return
        who = "whoever is at the port" if is_window else f"the enrolled host {client.host}"
        if self._feed.send("note", f"the journal is read over {client.name} by {who}", BY):
            client.noted_s = self._clock.mono_s()

    def tell(self, client: Client, what: str) -> None:
        """Lets the journal know what was changed on the unit, and by whom."""
        who = "whoever is at the port" if self.left_s > 0.0 else f"the enrolled host {client.host}"
        self._feed.send("note", f"{what}, over {client.name} by {who}", BY)

    def request(self, action: str, argument: str = "") -> bool:
        """Asks the unit for something; whether it could be said."""
        return self._feed.send(action, argument, BY)

    def ask(self) -> bool:
        """Puts the question on the glass that opens the window; whether it stands there now."""
        if self.left_s > 0.0:
            return False
        return self._ask(OPEN_QUESTION)

    @property
    def is_asking(self) -> bool:
        return self._question != ""

    def challenge(self, client: Client) -> bytes:
        """A new nonce for a client to sign, good once and for a minute."""
        client.nonce, client.nonce_s = os.urandom(NONCE_BYTES), self._clock.mono_s()
        return client.nonce

    def prove(self, client: Client, key: bytes, signature: bytes, unit_key: str) -> str:
        """Takes a proof for a session of ten minutes; says in words why not, or nothing."""
        if not self._is_signed(client, key, signature, unit_key):
            return "the proof is false, or its challenge is too old."
        name = self._enrolled.name_of(key)
        if name is None:
            return f"this host ({words_of(key)}) is not enrolled."
        client.proven_s, client.host = self._clock.mono_s(), name
        return ""

    def enroll(
        self, client: Client, key: bytes, name: str, signature: bytes, unit_key: str
    ) -> tuple[str, str]:
        """Asks the rider whether this host's words are right; the words, and why not."""
        words = words_of(key)
        if self.left_s <= 0.0 or self.refusal(client):
            return words, "a host is enrolled only in a window that the rider's button has opened."
        if not self._is_signed(client, key, signature, unit_key):
            return words, "the proof is false, or its challenge is too old."
        question = f"{words.upper()}?"
        if not self._ask(question, is_urgent=True):
            return words, "the glass asks something else: try again in a minute."
        self._pending = Pending(key, name, question)
        return words, ""

    def is_enrolled(self, key: bytes) -> bool:
        return self._enrolled.name_of(key) is not None

    def _is_signed(self, client: Client, key: bytes, signature: bytes, unit_key: str) -> bool:
        nonce, client.nonce = client.nonce, b""
        is_fresh = self._clock.mono_s() < client.nonce_s + NONCE_S
        return bool(nonce) and is_fresh and is_proof(key, signature, unit_key, nonce)

    def _is_proven(self, client: Client) -> bool:
        begun_s = client.proven_s
        if begun_s is None or begun_s < self._shut_s:
            return False
        return self._clock.mono_s() < begun_s + WINDOW_S

    def _ask(self, question: str, *, is_urgent: bool = False) -> bool:
        now_s = self._clock.mono_s()
        state = self.state
        if self._question:
            return self._question == question
        is_quiet = now_s < self._asked_s + QUESTION_S + QUIET_S and not is_urgent
        if state is None or not state.is_standing or state.prompt.endswith("?") or is_quiet:
            return False
        if not self._feed.send("prompt", question, BY):
            return False
        self._question, self._asked_s, self._asked_at_s = question, now_s, state.at_s
        return True

    def _withdraw(self) -> None:
        state = self._feed.state
        if state is not None and " ".join(state.prompt.split()) in ("", self._question):
            self._feed.send("prompt", "", BY)
        self._question, self._pending = "", None

    def _take(self, state: State) -> None:
        if state.speed_mph is not None and state.speed_mph >= RIDES_MPH:
            self._shut("the sled is ridden")
        is_ours = self._question and " ".join(state.answered.split()) == self._question
        if not is_ours or state.answered_s is None or state.answered_s < self._asked_at_s:
            return
        self._question = ""
        if self._pending is not None:
            self._enrolled.add(self._pending.key, self._pending.name)
            _log.info("host %s is enrolled: %s", self._pending.name, words_of(self._pending.key))
            self._pending = None
        elif state.is_standing:
            self._open("by the rider's button")
        self._asked_s = -QUESTION_S - QUIET_S

    def _open(self, how: str) -> None:
        self._opened_s = self._clock.mono_s()
        self._window_ends_s = self._opened_s + WINDOW_S
        self._feed.send("note", f"the service port is open for ten minutes, {how}", BY)
        _log.info("open for ten minutes, %s", how)

    def _shut(self, why: str) -> None:
        """Ends the window, and every session that was proven before."""
        if self._window_ends_s is not None:
            self._feed.send("note", f"the service port is shut: {why}", BY)
            _log.info("shut: %s", why)
        self._window_ends_s = None
        self._shut_s = self._clock.mono_s()
