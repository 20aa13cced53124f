"""The page's routes: its files, the stream of frames, pairing, and the few things to ask for."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from firmware import __version__
from firmware.clock import Clock
from firmware.feed.messages import Refused
from firmware.page.asking import UnheardError, ask
from firmware.page.frame import CODE_WORDS
from firmware.page.guard import MAX_BODY_BYTES, Guard
from firmware.page.hub import MAX_SCREENS, Hub
from firmware.page.pairing import CODE_S, Pairing, RefusedError

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

STANDING_MPH = 3.0
"""No code is put on the glass of a sled that is faster: a rider is not to read one."""

BODY_S = 5.0
ASK_GAP_S = 0.2

_T = TypeVar("_T")


class _Code(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class _Ask(msgspec.Struct, forbid_unknown_fields=True):
    do: Literal["acknowledge", "mark", "report"]
    argument: Literal["", "person", "shanty"] = ""


class _Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


@dataclass(frozen=True, slots=True)
class Site:
    """What the page serves, and how."""

    feed: Path
    host: str = ""
    port: int = 8350
    unit: str = ""
    pairs_while_moving: bool = False


class Page:
    """The page of one unit; its `app` is the ASGI application."""

    def __init__(self, site: Site, hub: Hub, clock: Clock) -> None:
        self._site = site
        self._hub = hub
        self._clock = clock
        self._pairing = Pairing(clock)
        self._server = secrets.token_hex(8)
        self._asked_s = float("-inf")
        self._put_s = float("-inf")
        self._cleared_s = float("-inf")
        self._tidying: set[asyncio.Task[None]] = set()
        # cookies know no ports: two units' pages on one machine must not share theirs
        self._session_name = f"sledwarden-{site.port}"
        self._asker_name = f"sledwarden-code-{site.port}"
        routes = [
            Route("/", _File(STATIC / "index.html")),
            *(
                Route(f"/static/{one.name}", _File(one))
                for one in sorted(STATIC.iterdir())
                if one.suffix in TYPES and one.suffix != ".html"
            ),
            Route("/events", _Events(self)),
            Route("/pair", self._pair, methods=["POST"]),
            Route("/pair/code", self._enter, methods=["POST"]),
            Route("/pair/cancel", self._cancel, methods=["POST"]),
            Route("/unpair", self._unpair, methods=["POST"]),
            Route("/ask", self._ask, methods=["POST"]),
        ]
        self.app: ASGIApp = Guard(Starlette(routes=routes), site.host)

    async def start(self) -> None:
        """Takes a code of an earlier process off the glass, once the unit is heard."""
        while not self._hub.is_alive:
            await asyncio.sleep(0.1)
        if not self._pairing.is_pending:  # somebody was quicker
            await self._clear_glass()

    async def stop(self) -> None:
        """Leaves no code on the glass."""
        if self._pairing.is_pending:
            await self._clear_glass()

    async def events(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The stream: first who looks, then frames for ever."""
        if scope["method"] != "GET":
            await PlainTextResponse("Only GET is taken.\n", 405)(scope, receive, send)
            return
        screen = self._hub.join(scope["state"]["hang_up"])
        if screen is None:
            words = f"{MAX_SCREENS} screens look at this unit already: close one first.\n"
            await PlainTextResponse(words, 503, {"connection": "close"})(scope, receive, send)
            return

        async def send_event(body: bytes) -> None:
            await send({"type": "http.response.body", "body": body, "more_body": True})

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self._hub.leave(screen)

        watcher = asyncio.create_task(watch())
        head = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": head})
            await send_event(self._hello(scope))
            await self._hub.serve(screen, send_event)
        finally:
            watcher.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _hello(self, scope: Scope) -> bytes:
        session = _cookie(Headers(scope=scope), self._session_name)
        hello = {
            "is_paired": self._pairing.is_paired(session),
            "server": self._server,
            "unit": self._site.unit,
            "version": __version__,
        }
        return b"retry: 1000\nevent: hello\ndata: %b\n\n" % msgspec.json.encode(hello)

    async def _pair(self, request: Request) -> Response:
        try:
            await _body(request, _Nothing)
            self._check_glass()
            offer = self._pairing.begin(_cookie(request.headers, self._asker_name))
        except RefusedError as refusal:
            return _refused(refusal)
        try:
            await self._tell("prompt", f"{CODE_WORDS} {offer.code}", _by(request))
        except RefusedError as refusal:
            self._pairing.cancel(offer.asker)
            return _refused(refusal)
        self._put_s = self._clock.mono_s()
        task = asyncio.create_task(self._clear_later())
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)
        answer = JSONResponse({"valid_s": CODE_S, "digits": len(offer.code)})
        self._set_cookie(answer, self._asker_name, offer.asker)
        return answer

    async def _enter(self, request: Request) -> Response:
        try:
            tried = await _body(request, _Code)
            asker = _cookie(request.headers, self._asker_name)
            session = self._pairing.enter(asker, tried.code)
        except RefusedError as refusal:
            if not self._pairing.is_pending:
                await self._clear_glass()
            return _refused(refusal)
        await self._clear_glass()
        with contextlib.suppress(UnheardError):
            await ask(self._site.feed, "note", "paired with the page", _by(request))
        answer = JSONResponse({"is_paired": True})
        self._set_cookie(answer, self._session_name, session)
        answer.delete_cookie(self._asker_name)
        return answer

    async def _cancel(self, request: Request) -> Response:
        if self._pairing.cancel(_cookie(request.headers, self._asker_name)):
            await self._clear_glass()
        return JSONResponse({"is_paired": False})

    async def _unpair(self, request: Request) -> Response:
        self._pairing.end(_cookie(request.headers, self._session_name))
        answer = JSONResponse({"is_paired": False})
        answer.delete_cookie(self._session_name)
        return answer

    async def _ask(self, request: Request) -> Response:
        try:
            if not self._pairing.is_paired(_cookie(request.headers, self._session_name)):
                raise RefusedError(401, "This phone is not paired with the unit.")
            asked = await _body(request, _Ask)
            now_s = self._clock.mono_s()
            if now_s < self._asked_s + ASK_GAP_S:
                raise RefusedError(429, "That was quick. Try again in a moment.")
            self._asked_s = now_s
            argument = self._nearest() if asked.do == "report" else asked.argument
            await self._tell(asked.do, argument, _by(request))
        except RefusedError as refusal:
            return _refused(refusal)
        return JSONResponse({"did": asked.do})

    def _nearest(self) -> str:
        """The report that what is nearest on the map is no dwelling."""
        state = self._hub.sight.state
        if state is None or not self._hub.is_alive:
            raise RefusedError(503, "The unit is not there.")
        if state.zone != "dwelling" or not state.zone_id:
            raise RefusedError(409, "The nearest thing on the map is no dwelling.")
        return f"{state.zone_id} not a dwelling, says the rider"

    async def _tell(self, do: str, argument: str, by: str) -> None:
        """Asks the unit; raises `RefusedError` with its own words, or why it gives none."""
        try:
            answer = await ask(self._site.feed, do, argument, by)
        except UnheardError as fault:
            raise RefusedError(503, str(fault)) from fault
        if isinstance(answer, Refused):
            raise RefusedError(502, f"The unit refuses it: {answer.what}")

    def _check_glass(self) -> None:
        """Raises `RefusedError` where the glass is not free for a code."""
        state = self._hub.sight.state
        if state is None or not self._hub.is_alive:
            raise RefusedError(503, "The unit is not there.")
        moving = state.speed_mph is not None and state.speed_mph > STANDING_MPH
        if moving and not self._site.pairs_while_moving:
            raise RefusedError(409, "Stop first: a phone is paired while the sled stands.")
        if state.prompt.rstrip().endswith("?"):
            raise RefusedError(409, "The glass asks something: answer that first.")

    async def _clear_later(self) -> None:
        await asyncio.sleep(CODE_S + 0.1)
        if not self._pairing.is_pending:
            await self._clear_glass()

    async def _clear_glass(self) -> None:
        """Takes our own prompt off the glass, be it only just on its way there; and no other."""
        sight = self._hub.sight
        is_ours = sight.state is not None and sight.state.prompt.startswith(CODE_WORDS)
        is_seen = is_ours and sight.made_s > self._cleared_s
        is_on_its_way = self._put_s > max(sight.made_s, self._cleared_s)
        if is_seen or is_on_its_way:
            with contextlib.suppress(UnheardError):
                await ask(self._site.feed, "prompt", "", "page")
                self._cleared_s = self._clock.mono_s()

    def _set_cookie(self, answer: Response, name: str, secret: str) -> None:
        answer.set_cookie(name, secret, httponly=True, samesite="strict", path="/")


class _Events:
    """The stream as a bare ASGI application, which Starlette takes as it is."""

    def __init__(self, page: Page) -> None:
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._page.events(scope, receive, send)


class _File:
    """A file of the page, read once."""

    def __init__(self, path: Path) -> None:
        self._answer = Response(
            path.read_bytes(), media_type=TYPES[path.suffix], headers={"cache-control": "no-cache"}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope, receive, send)


async def _body(request: Request, kind: type[_T]) -> _T:
    """The request's content; raises `RefusedError` where it is not what is taken."""
    octets = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                octets += chunk
                if len(octets) > MAX_BODY_BYTES:
                    raise RefusedError(413, f"At most {MAX_BODY_BYTES} bytes are taken.")
    except (TimeoutError, ClientDisconnect):
        raise RefusedError(408, "The content did not come.") from None
    try:
        return msgspec.json.decode(bytes(octets), type=kind)
    except (ValueError, RecursionError) as fault:
        raise RefusedError(400, f"Not what is taken here: {fault}.") from fault


def _cookie(headers: Headers, name: str) -> str:
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def _by(request: Request) -> str:
    """Who asks, for the journal; the kernel's word for the page itself comes with it."""
    address = request.client.host if request.client is not None else "unknown"
    return f"page {re.sub(r'[^0-9A-Za-z.:%_-]', '', address)}"


def _refused(refusal: RefusedError) -> Response:
    return JSONResponse({"what": refusal.what}, refusal.status)
