"""A finished segment of the journal, read by an indexed reader that we did not write."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from journal_samples import written
from mcap.reader import make_reader
from node_packages import FOLDER, node_packages

from firmware.journal import reader


def read_by_node(segment: Path) -> dict[str, Any]:
    node_packages()
    done = subprocess.run(
        ["node", FOLDER / "read_segment.mjs", segment],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_mcap_core_s_indexed_reader_finds_every_record_of_a_finished_segment(
    tmp_path: Path,
) -> None:
    put = written(tmp_path / "journal", 300)
    (boot,) = reader.boots(tmp_path / "journal")
    (segment,) = reader.segments(boot)
    found = read_by_node(segment)
    with segment.open("rb") as file:
        messages = [
            (channel.topic, schema.name if schema else "", message.data)
            for schema, channel, message in make_reader(file).iter_messages()
        ]
    assert found["messages"] == found["stated"] == len(messages) >= len(put)
    assert found["topics"] == Counter(topic for topic, _, _ in messages)
    assert found["bytes"] == sum(len(octets) for _, _, octets in messages)
    assert found["isOrdered"]
    assert all(one.endswith(" jsonschema json") for one in found["schemas"].values())
    assert sorted(found["attachments"]) == ["sledwarden.toml", "wi.toml"]
    assert found["chunks"] > 10


def test_a_segment_that_was_cut_is_no_whole_one_for_it(tmp_path: Path) -> None:
    written(tmp_path / "journal", 60)
    (boot,) = reader.boots(tmp_path / "journal")
    (segment,) = reader.segments(boot)
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(segment.read_bytes()[:-200])
    node_packages()
    done = subprocess.run(
        ["node", FOLDER / "read_segment.mjs", cut], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
