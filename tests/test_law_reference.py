"""`docs/law.md` and the list of checked packs say what the packs say."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from firmware.config.faults import law_packs
from firmware.errors import LawError
from firmware.law import packs as law
from host_tools import law_reference

PAPER = Path(__file__).parents[1] / "docs" / "law.md"


def test_the_reference_is_current() -> None:
    assert PAPER.read_text(encoding="utf-8") == law_reference.reference(), "run `make docs`"


def test_every_paragraph_has_its_line_in_the_reference() -> None:
    lines = PAPER.read_text(encoding="utf-8").splitlines()
    for word in law_packs():
        for clause in law.load(word).clause:
            begins = f"| {clause.citation} ".replace("<", "&lt;")
            assert any(line.startswith(begins) for line in lines), clause.citation


def test_every_pack_is_listed_as_it_was_checked() -> None:
    """A pack that was changed is read whole by the unit: slower, and no less right."""
    lines = law.CHECKED.read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(law.path_of(word).read_bytes()).hexdigest()}  {word}.toml"
        for word in law_packs()
    ], "run `make docs`"


def test_a_pack_whose_judged_clauses_would_be_missed_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (law.FOLDER / "wi.toml").read_text().replace('kind = "tether"', 'kind  = "tether"')
    (tmp_path / "wi.toml").write_text(text)
    monkeypatch.setattr(law, "FOLDER", tmp_path)
    monkeypatch.setattr(law_reference, "law_packs", lambda: ["wi"])
    with pytest.raises(LawError, match="are not found by their lines"):
        law_reference.checked()
