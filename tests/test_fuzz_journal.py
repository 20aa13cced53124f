"""Mutated journals, ledgers and requests, seeded and few; `fuzz_journal.py` tries any number."""

from __future__ import annotations

import time

import pytest
from fuzz_journal import TARGETS, Corpus, corpus, fuzz

from firmware.journal import ledger

TRIES = 40


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("name", TARGETS)
def test_no_bytes_break_it(name: str, sample: Corpus) -> None:
    fuzz(name, sample, TRIES, seed=1)


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"\0\n", b"x" * 80 + b"\n"])
def test_a_ledger_of_a_million_false_lines_is_left_at_its_first(line: bytes) -> None:
    begin_s = time.process_time()
    found = ledger.check(line * 1_000_000)
    assert (found.count, found.end) == (0, 0)
    assert time.process_time() - begin_s < 10.0
