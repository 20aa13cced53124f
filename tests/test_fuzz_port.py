"""Senseless requests to an open port, seeded and few; `fuzz_port.py` says any number."""

from __future__ import annotations

from pathlib import Path

import cbor2
from fuzz_port import bringing, fuzz, port

from firmware.link.handling import Way

FRAMES = 1500


def test_no_request_breaks_the_open_port(tmp_path: Path) -> None:
    with port(tmp_path) as one:
        fuzz(one, FRAMES, seed=1)
        assert one.answers["done"] > 50


def test_what_is_fuzzed_reaches_what_lies_behind_the_port(tmp_path: Path) -> None:
    """What nobody changed is taken and put in use: else the port would only be knocked at."""
    with port(tmp_path) as one:
        for name, content in one.files:
            for message in bringing(name, content):
                reply = one.link.server.answer(message, "a", Way("serial", 4096))
                assert reply is not None
                assert "rc" not in cbor2.loads(reply[8:])
        assert (tmp_path / "zones" / "lake.gpkg").read_bytes() == one.files[2][1]
        one.check()
