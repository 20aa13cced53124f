"""Who may ask at all: nobody from another site, under no other name, with no more than is taken.

The page has no password to look: what keeps it to its owner is where it listens. A page of another
site that runs in the rider's own browser is kept out here: by the Host (a name that was made to
lead here is not ours, so a rebound DNS name reaches nothing), and by the Origin.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1024

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Guard:
    """Stands before the routes, refuses in words, and lays the same headers on every answer."""

    def __init__(self, app: ASGIApp, name: str = "") -> None:
        """`name` is the host that the configuration names, which may be asked for as well."""
        self._app = app
        self._names = _NAMES | {name.lower()} if name else _NAMES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            status, words = refusal
            answer = PlainTextResponse(f"{words}\n", status, {"connection": "close"})
            await answer(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        method = scope["method"]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not is_ours(hosts[0], self._names, _address_of(scope)):
            return 421, (
                "This unit's page is not called that. Use its address, like http://127.0.0.1:8350/."
            )
        if method not in ("GET", "HEAD", "POST"):
            return 405, "Only GET, HEAD and POST are taken."
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{hosts[0].lower()}":
            return 403, "Asked from another site: only the unit's own page may ask."
        is_visit = headers.get("sec-fetch-mode") == "navigate" and method != "POST"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not is_visit:
            return 403, "Asked from another site: only the unit's own page may ask."
        return self._body_refusal(headers, origin) if method == "POST" else None

    def _body_refusal(self, headers: Headers, origin: str | None) -> tuple[int, str] | None:
        if origin is None:
            return 403, "Asked without an Origin: only the unit's own page may ask."
        if headers.get("content-type", "").lower() != "application/json":
            return 415, "The content type must be application/json."
        length = headers.get("content-length", "")
        if re.fullmatch(r"[0-9]{1,9}", length) is None:
            return 411, "The length of the content must be given."
        if int(length) > MAX_BODY_BYTES:
            return 413, f"At most {MAX_BODY_BYTES} bytes are taken."
        return None


def is_ours(host: str, names: Iterable[str], address: str) -> bool:
    """Whether a Host header names us: one of the names, or the address that was connected to."""
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?", host)
    if match is None:
        return False
    name = (match[1] or match[2]).lower()
    if name in names:
        return True
    try:
        return _plain(name) == _plain(address)
    except ValueError:
        return False


def _plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address without its zone, an IPv4 one that came through IPv6 as itself."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _address_of(scope: Scope) -> str:
    server = scope.get("server")
    return str(server[0]) if server else ""
