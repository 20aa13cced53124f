"""The words keep up with the product: commands, examples, keys, laws, chips, changes, links."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
from rich.text import Text

from firmware import __released__, __version__, daemon
from firmware.config.faults import law_packs, section_of
from firmware.dash import main as dash
from firmware.link import main as link
from firmware.page import main as page
from firmware.parts import PARTS
from host_tools import cli
from host_tools.config_reference import sections

ROOT = Path(__file__).parent.parent
PAPERS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
ALWAYS = {"--help", "-h"}
PROGRAMS = (
    "sledwarden ",
    "sledwardend ",
    "sledwarden-dash ",
    "sledwarden-page ",
    "sledwarden-link ",
)


def _text(*papers: Path) -> str:
    return "\n".join(paper.read_text(encoding="utf-8") for paper in papers or PAPERS)


def _commands() -> dict[str, set[str]]:
    """Every command of the CLI as it is typed, with the options that it knows."""
    known: dict[str, set[str]] = {"sledwarden": {"--version", *ALWAYS}}
    for program, main in (
        ("sledwardend", daemon.main),
        ("sledwarden-dash", dash.main),
        ("sledwarden-page", page.main),
        ("sledwarden-link", link.main),
    ):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), pytest.raises(SystemExit):
            main(["--help"])
        known[program] = set(
            re.findall(r"(?<!\S)--?[a-z][a-z-]*", said.getvalue().replace("[", ""))
        )
    for name, part in cli.PARTS.items():
        command = typer.main.get_command(importlib.import_module(part.module).app)
        known |= _with_children(f"sledwarden {name}", command)
    return known


def _with_children(path: str, command: Any) -> dict[str, set[str]]:
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    known = {path: {option for option in options if option.startswith("-")} | ALWAYS}
    for name, child in getattr(command, "commands", {}).items():
        known |= _with_children(f"{path} {name}", child)
    return known


def examples_of(text: str) -> Iterator[str]:
    """Every line of a code block that begins with a command of ours; joined where it goes on."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```|((?:^    .*\n)+)", text, re.M | re.S):
        for line in "".join(block).replace("\\\n", " ").splitlines():
            bare = line.strip().removeprefix("$ ")
            if bare.startswith(PROGRAMS):
                yield bare


def complaint_of(example: str, known: dict[str, set[str]]) -> str:
    """What the CLI does not know of an example; empty where it knows all."""
    words = shlex.split(example, comments=True)
    ends = [place for place, word in enumerate(words) if word in ("|", ">", "&&", ";", "&")]
    words = words[: ends[0]] if ends else words
    path = words.pop(0)
    while words and f"{path} {words[0]}" in known:
        path = f"{path} {words.pop(0)}"
    if path == "sledwarden" and (not words or not words[0].startswith("-")):
        return f"{example}: there is no such command"
    for word in words:
        option = word.partition("=")[0]
        is_option = re.fullmatch(r"--?[a-z][a-z-]*", option) is not None
        if is_option and option not in known[path]:
            return f"{example}: {path} has no option {option}"
    has_children = any(one.startswith(f"{path} ") for one in known)
    if has_children and words and not words[0].startswith("-"):
        return f"{example}: {path} has no command {words[0]}"
    return ""


def test_there_is_a_readme() -> None:
    assert (ROOT / "README.md").exists()


def test_every_command_has_its_line() -> None:
    text = _text()
    known = _commands()
    leaves = [one for one in known if not any(other.startswith(f"{one} ") for other in known)]
    assert [one for one in leaves if one not in text] == []
    assert [one for one in PROGRAMS if one.strip() not in text] == []


def test_every_command_says_what_it_does_with_an_example() -> None:
    for name, part in cli.PARTS.items():
        command: Any = typer.main.get_command(importlib.import_module(part.module).app)
        for one in getattr(command, "commands", {name: command}).values():
            assert one.help, (name, one.name)
            assert "sledwarden " in one.help, f"{name} {one.name}: the help shows no example"


def _helps(command: Any) -> Iterator[str]:
    yield command.help or ""
    yield from (getattr(one, "help", None) or "" for one in command.params)
    for child in getattr(command, "commands", {}).values():
        yield from _helps(child)


def test_no_help_loses_a_word_in_brackets_to_its_markup() -> None:
    for part in cli.PARTS.values():
        for told in _helps(typer.main.get_command(importlib.import_module(part.module).app)):
            bare = told.replace("[bold]", "").replace("[/bold]", "")
            assert Text.from_markup(told).plain == Text(bare).plain


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_example_is_known_to_the_cli(paper: Path) -> None:
    known = _commands()
    said = [complaint_of(example, known) for example in examples_of(_text(paper))]
    assert [one for one in said if one] == []


@pytest.mark.parametrize(
    ("example", "complaint"),
    [
        ("sledwarden fly", "sledwarden fly: there is no such command"),
        ("sledwarden zones burn", "sledwarden zones burn: sledwarden zones has no command burn"),
        ("sledwarden zones at --quick 1 2",
         "sledwarden zones at --quick 1 2: sledwarden zones at has no option --quick"),
        ("sledwardend --sped 3", "sledwardend --sped 3: sledwardend has no option --sped"),
        ("sledwarden zones info lake.gpkg | head --nonsense", ""),
        ("sledwarden zones at lake.gpkg 44.05 -88.41  # the dwellings", ""),
    ],
)  # fmt: skip
def test_an_example_that_would_not_run_is_found(example: str, complaint: str) -> None:
    known = {
        "sledwarden": {"--version"}, "sledwarden zones": {"--help"},
        "sledwarden zones at": {"--json"}, "sledwarden zones info": {"--json"},
        "sledwardend": {"--speed"},
    }  # fmt: skip
    assert complaint_of(example, known) == complaint


def test_examples_are_found_in_both_sorts_of_code_block() -> None:
    text = (
        "```sh\n$ sledwarden a \\\n  --b\nother\n```\n\ntext sledwarden no\n\n    sledwarden c\n\n"
    )
    assert [" ".join(one.split()) for one in examples_of(text)] == [
        "sledwarden a --b",
        "sledwarden c",
    ]


def test_every_config_key_has_its_line() -> None:
    text = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    for name, section in sections():
        _, _, chapter = text.partition(f"## [{name}]\n")
        chapter, _, _ = chapter.partition("\n## ")
        for field in msgspec.structs.fields(section):
            if section_of(field.type) is None:
                assert f"| `{field.name}` |" in chapter, (name, field.name)


def test_every_chip_and_panel_has_its_line() -> None:
    text = _text().lower()
    words = [word for section in ("light", "adc", "rtc", "panel") for word in PARTS[section]]
    assert [word for word in words if not re.search(rf"\b{word}\b", text)] == []


def test_every_law_has_its_line() -> None:
    assert law_packs()
    text = _text()
    assert [law for law in law_packs() if f"`{law}`" not in text] == []


def test_the_changes_begin_with_this_version_and_its_date() -> None:
    first = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert first is not None
    assert first[1] == f"{__version__} - {__released__}"


def missing_of(paper: Path, text: str) -> list[str]:
    """The links and pictures of a paper that lead to no file."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)|src=\"([^\"]+)\"", text)
    return [
        target for pair in targets for target in pair
        if target and "://" not in target and not target.startswith("mailto:")
        and not (paper.parent / target).exists()
    ]  # fmt: skip


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_link_leads_to_a_file(paper: Path) -> None:
    assert missing_of(paper, _text(paper)) == []


def test_a_link_to_nowhere_is_found() -> None:
    paper = ROOT / "docs" / "config.md"
    text = "[a](nowhere.md#part) ![b](config.md) [c](https://example.org/x)"
    assert missing_of(paper, text) == ["nowhere.md"]
