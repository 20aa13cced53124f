"""Spoilt packs and maps, seeded and few: a sentence, never a traceback (`fuzz_packs` goes on)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_packs import by_sql, complaints, pack_in, spoil, spoilt_map

from firmware.errors import ZoneError
from host_tools.packs.diff import differences
from host_tools.packs.facts import facts


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack_in(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("seed", [2, 5, 21])
def test_no_spoilt_pack_gives_a_traceback(tmp_path: Path, whole: Path, seed: int) -> None:
    spoil(whole.read_bytes(), tmp_path / "spoilt.gpkg", seed)
    assert list(complaints(tmp_path / "spoilt.gpkg", whole)) == []


def test_no_spoilt_map_gives_a_traceback(tmp_path: Path, whole: Path) -> None:
    for seed in range(8):
        source = tmp_path / f"{seed}.geojson"
        source.write_text(spoilt_map(seed), errors="surrogatepass")
        assert list(complaints(source, whole)) == [], seed


def test_words_of_another_type_are_counted_or_told(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "typed.gpkg"
    path.write_bytes(whole.read_bytes())
    by_sql(path, lambda file: file.executescript(
        "UPDATE features SET dated = 2026, source = x'41', name = 7;"
        "UPDATE gpkg_contents SET description = 5"
    ))  # fmt: skip
    told = facts(path)
    assert (told.dated_from, told.sources, told.layout) == ("2026", ["A"], "5")
    assert {one.change for one in differences(whole, path)} == {"changed"}
    by_sql(path, lambda file: file.execute("UPDATE features SET kind = x'00' WHERE fid = 1"))
    with pytest.raises(ZoneError, match="a feature without kind and id in words"):
        list(differences(whole, path))
