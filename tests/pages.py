"""A real `sledwarden-page` process for tests, and plain HTTP to ask it with."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE_S = 20.0


class PageProcess:
    """The page of the unit at this feed, on a free port of 127.0.0.1 unless told otherwise."""

    def __init__(self, feed: Path, *arguments: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "firmware.page.main", "--feed", str(feed)]
        command += ["--port", str(port), *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        match = re.fullmatch(r"sledwarden-page: (http://\S+:(\d+)/)\n", said)
        if match is None:
            raise AssertionError(f"the page did not start: {said}{self.process.stdout.read()}")
        self.address, self.port = match[1], int(match[2])
        self.origin = self.address.rstrip("/")

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Ends it by a signal; its exit code and all that it said after its address."""
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said

    def __enter__(self) -> PageProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Answer:
    """An answer of the page: its status, headers and content."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self.text = answer.read().decode()

    @property
    def what(self) -> str:
        """The words of a refusal."""
        return str(json.loads(self.text)["what"])

    def cookie(self, name: str) -> str:
        """The value that a cookie is set to; empty where it is not set."""
        found = [
            line.partition(";")[0].partition("=")[2].strip('"')
            for line in self.headers.get_all("set-cookie", [])
            if line.startswith(f"{name}=")
        ]
        return found[0] if found else ""


class Browser:
    """Just enough of a browser: one host, its cookies, JSON with the page's own origin."""

    def __init__(self, page: PageProcess) -> None:
        self.page = page
        self.cookies: dict[str, str] = {}

    def ask(
        self, path: str, content: object = None, method: str = "", **headers: str | None
    ) -> Answer:
        """GET, or POST with a content; a header of None is left out."""
        link = http.client.HTTPConnection("127.0.0.1", self.page.port, timeout=PATIENCE_S)
        sent: dict[str, str | None] = {"cookie": self._cookies() or None}
        body = None
        if content is not None:
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            sent |= {"content-type": "application/json", "origin": self.page.origin}
        sent |= {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            link.putrequest(method or ("GET" if body is None else "POST"), path,
                            skip_host="host" in sent, skip_accept_encoding=True)  # fmt: skip
            if body is not None and "content-length" not in sent:
                link.putheader("content-length", str(len(body)))
            for name, text in sent.items():
                if text is not None:
                    link.putheader(name, text)
            link.endheaders(body)
            answer = Answer(link.getresponse())
        finally:
            link.close()
        for name in (self.session_name, self.asker_name):
            if any(one.startswith(f"{name}=") for one in answer.headers.get_all("set-cookie", [])):
                self.cookies[name] = answer.cookie(name)
        return answer

    @property
    def session_name(self) -> str:
        return f"sledwarden-{self.page.port}"

    @property
    def asker_name(self) -> str:
        return f"sledwarden-code-{self.page.port}"

    def _cookies(self) -> str:
        return "; ".join(f"{name}={text}" for name, text in self.cookies.items() if text)


class Stream:
    """The stream of events, read by hand; `quiet` never reads."""

    def __init__(self, page: PageProcess, cookie: str = "", buffer_bytes: int = 0) -> None:
        self.link = socket.socket()
        if buffer_bytes:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.link.settimeout(PATIENCE_S)
        self.link.connect(("127.0.0.1", page.port))
        cookies = f"Cookie: {cookie}\r\n" if cookie else ""
        self.link.sendall(
            f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n{cookies}\r\n".encode()
        )

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each event's name and data; ends when the page hangs up."""
        with self.link.makefile("rb") as lines:
            name = "message"
            for line in lines:
                if line.startswith(b"event: "):
                    name = line[7:].decode().strip()
                elif line.startswith(b"data: "):
                    yield name, json.loads(line[6:])
                    name = "message"

    def frames(self) -> Iterator[dict[str, Any]]:
        """The frames alone."""
        return (said for name, said in self.events() if name == "message")

    def close(self) -> None:
        self.link.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
