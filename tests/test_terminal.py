"""What others have named gives a person's terminal no orders."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from journal_samples import START, journal_in, put_all, ride
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from firmware.errors import ConfigError, SledwardenError, printable
from host_tools.cli import app
from host_tools.progress import shown
from host_tools.terminal import Console, echo, one_line

HOSTILE = "sled\x1b[2K\r\x9b1A\x07[bold]x[/no]\u202e\x7f{0}"
SHOWN = "sled\ufffd[2K\ufffd\ufffd1A\ufffd[bold]x[/no]\ufffd\ufffd{0}"
RUNNER = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})


def test_what_is_printable_stays_as_it_is() -> None:
    for text in ("sled 7, \u00e9\u4e2d\U0001f6f7", "a\tb\nc", ""):
        assert printable(text) == text


def test_every_control_character_but_tab_and_line_feed_is_shown_as_a_mark() -> None:
    for code in (*range(9), *range(11, 32), *range(127, 160), *range(0x2028, 0x202F)):
        assert printable(f"a{chr(code)}b") == "a\ufffdb", hex(code)


def test_an_error_says_no_order() -> None:
    told = SledwardenError("/dev/ttyACM0", HOSTILE, "Try\x1b[A again.")
    assert str(told) == f"/dev/ttyACM0: {SHOWN} Try\ufffd[A again."
    assert str(ConfigError("a.toml", [HOSTILE, "b"])) == f"a.toml: {SHOWN}\na.toml: b"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_console_shows_names_as_text_wherever_they_stand(*, is_terminal: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=300, highlight=False)
    table = Table(box=None, title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    console.print(HOSTILE)
    console.print(table)
    console.print(Text(HOSTILE))
    # rich itself leaves out bells and carriage returns, of a Text
    seen = out.getvalue().replace("\ufffd", "")
    assert seen.count("sled[2K1A[bold]x[/no]{0}") == 6
    assert not set("\r\x07\x9b\u202e\x7f") & set(seen)
    assert "\x1b[2K" not in seen


def test_a_console_keeps_its_own_colours() -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard").print(Text("a", "red"))
    assert out.getvalue() == "\x1b[31ma\x1b[0m\n"


def test_a_line_is_ended_by_no_name_in_it() -> None:
    assert (
        one_line("a\nKey b, the one that you gave.").plain == "a\ufffdKey b, the one that you gave."
    )


def test_an_echo_says_no_order(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE)
    echo(HOSTILE, err=True)
    assert capsys.readouterr() == (f"{SHOWN}\n", f"{SHOWN}\n")


def test_work_may_be_named_as_its_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    assert [*shown([(0.0, "a")], "{0} [/no]", 1.0)] == ["a"]


def test_a_journal_can_not_write_its_own_verdict(tmp_path: Path) -> None:
    """By its unit's name: sealed by a stranger's key, so that nothing in it is false."""
    unit = f"{HOSTILE}: whole\nKey 0123, the one that you gave."
    journal = journal_in(tmp_path / "journal", start=replace(START, unit=unit))
    journal.open()
    put_all(journal, ride(12))
    assert journal.close(102.0, timeout_s=60.0)
    (tmp_path / "another.pub").write_text("ab" * 32)
    done = RUNNER.invoke(
        app, ["verify", str(tmp_path / "journal"), "--key", str(tmp_path / "another.pub")]
    )
    assert done.exit_code == 1
    assert not set("\x1b\r\x07\x9b\u202e") & set(done.output)
    lines = done.output.splitlines()
    assert not [line for line in lines if line.startswith("Key 0123")]
    assert [line.partition(":")[0] for line in lines if line.startswith(("tampered", "whole"))] == [
        "tampered"
    ]
