"""A real `sledwarden-page` process for tests, a unit for it to follow, and HTTP to ask it with."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from glass_scenes import RIDE

from firmware.clock import Clock
from firmware.outputs.feed import Feed
from firmware.readings import Reading, Request

WAIT_S = 60.0
STANDING = replace(RIDE, speed_mph=0.0)


def until(is_so: Callable[[], bool]) -> None:
    deadline_s = Clock().mono_s() + WAIT_S
    while not is_so():
        assert Clock().mono_s() < deadline_s
        threading.Event().wait(0.02)


class Unit:
    """A unit of which only the feed is there: says one state ten times a second, keeps what it is
    asked, and puts a prompt on its glass as the real one does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = STANDING
        self.asked: list[Request] = []
        self.is_talking = True
        self._ended = threading.Event()
        self._feed: Feed | None = None
        self.come_back()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def prompts(self) -> list[str]:
        return [one.argument for one in self.asked if one.action == "prompt"]

    def hang_up(self) -> None:
        """Goes, as a daemon that ends."""
        feed, self._feed = self._feed, None
        if feed is not None:
            feed.stop()

    def come_back(self) -> None:
        """Is there again; nothing where it never went."""
        if self._feed is None:
            feed = Feed(self.path, self._take)
            feed.start()
            self._feed = feed

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        self.hang_up()

    def _take(self, reading: Reading) -> None:
        assert isinstance(reading.value, Request)
        self.asked.append(reading.value)
        if reading.value.action == "prompt":
            self.state = replace(self.state, prompt=reading.value.argument)

    def _run(self) -> None:
        while not self._ended.wait(0.05):
            feed = self._feed
            if feed is not None and self.is_talking:
                feed.push(replace(self.state))


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
        said, _ = self.process.communicate(timeout=WAIT_S)
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
        link = http.client.HTTPConnection("127.0.0.1", self.page.port, timeout=WAIT_S)
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
    """The stream of events, read by hand or not at all."""

    def __init__(self, page: PageProcess, cookie: str = "", buffer_bytes: int = 0) -> None:
        self.link = socket.socket()
        if buffer_bytes:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.link.settimeout(WAIT_S)
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
        """Hangs up, be somebody still reading."""
        with contextlib.suppress(OSError):  # the page was first
            self.link.shutdown(socket.SHUT_RDWR)
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


def frame_when(stream: Stream, wanted: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    deadline_s = Clock().mono_s() + WAIT_S
    for one in stream.frames():
        if wanted(one):
            return one
        assert Clock().mono_s() < deadline_s, one
    raise AssertionError("the page hung up")


def wrong(code: str) -> str:
    return "1111" if code != "1111" else "2222"
