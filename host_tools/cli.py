"""The `sledwarden` command: all that a person does at a desk, each part loaded when it is used."""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from firmware import __version__
from firmware.errors import SledwardenError, UsageError

try:
    import typer
    from typer.core import TyperCommand, TyperGroup
except ModuleNotFoundError as fault:  # the unit alone is installed
    sys.exit(
        f"sledwarden: {fault.name} is not installed: the tools for the desk were expected. "
        "Install them with: pip install 'sledwarden[host]'"
    )


class Part(NamedTuple):
    """A sub-command: the module whose `app` it is, and its line in the list."""

    module: str
    line: str


PARTS = {
    "demo": Part("host_tools.commands.demo", "Runs the real programs on this desk, on a ride."),
    "replay": Part("host_tools.commands.replay", "Judges a recorded or scripted ride again."),
    "verify": Part("host_tools.commands.verify", "Tells whether a journal is what was sealed."),
    "export": Part("host_tools.commands.export", "Writes a ride for other tools: GPX, KML, CSV."),
    "report": Part("host_tools.commands.report", "Makes one page of a ride, to open anywhere."),
    "download": Part("host_tools.commands.download", "Fetches what is new of a unit's journal."),
    "service": Part(
        "host_tools.commands.service", "Brings files and settings to a unit; starts it anew."
    ),
    "check": Part("host_tools.commands.check", "Tells how each part of a running unit does."),
    "units": Part("host_tools.commands.units", "Lists the units that were downloaded."),
    "law": Part(
        "host_tools.commands.law", "Tells what each paragraph asks, and how it is covered."
    ),
    "inspect": Part(
        "host_tools.commands.inspect", "Leads through an inspection, to a signed sheet."
    ),
    "mode": Part("host_tools.commands.mode", "Sets a race or another mode on a unit that stands."),
    "race": Part("host_tools.commands.race", "Makes race tokens, and hands them to a unit."),
    "zones": Part("host_tools.commands.zones", "Builds zone packs and asks what lies near."),
}


_BYTES = re.compile(r'[^"\n]*[\udc80-\udcff][^"\n]*')
"""The word with a byte that is no text, as Python brings such a byte in."""


@contextmanager
def _text_in_utf8() -> Iterator[None]:
    """Tells of a typed word that can't be kept, for a byte of it is no text."""
    try:
        yield
    except UnicodeEncodeError as fault:
        word = _BYTES.search(fault.object)
        if word is None:
            raise
        raise UsageError(
            "sledwarden", f"{word[0]}: has a byte that is no text in UTF-8.", "Type it again."
        ) from fault


class PartsOnDemand(TyperGroup):
    """Imports a sub-command when it is called, so that the list of them comes at once."""

    # `ctx: Any`: typer keeps the class of its contexts to itself.
    def list_commands(self, ctx: Any) -> list[str]:
        return list(PARTS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        part = PARTS.get(cmd_name)
        if part is None:
            return None
        if ctx.meta.get("lists"):
            return TyperCommand(cmd_name, help=part.line)
        try:
            app: typer.Typer = importlib.import_module(part.module).app
        except ModuleNotFoundError as fault:
            raise SledwardenError(
                f"sledwarden {cmd_name}",
                f"{fault.name} is not installed: the tools for the desk were expected.",
                "Install them with: pip install 'sledwarden[host]'",
            ) from fault
        return typer.main.get_command(app)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        ctx.meta["lists"] = True
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; a fault that a person can act on becomes one message and exit 1."""
        try:
            with _text_in_utf8():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except SledwardenError as fault:
            if os.environ.get("DEBUG") == "1":
                raise
            typer.echo(str(fault), err=True)
            raise typer.Exit(2 if isinstance(fault, UsageError) else 1) from fault
        except BrokenPipeError as fault:
            # The reader of a pipe has gone, as `head` does: nothing more is to be said.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from fault
        return result


app = typer.Typer(
    cls=PartsOnDemand,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"sledwarden {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Tell the version, and end."
        ),
    ] = False,
) -> None:
    """The desk's side of sledwarden, the compliance monitor of a snowmobile.

    For example: [bold]sledwarden replay ride.log --findings[/bold]

    Exit codes: 0 good; 1 the answer is no, or it failed; 2 wrong use. DEBUG=1 shows tracebacks.
    """


def main() -> None:
    """The entry point of the `sledwarden` command; one sentence where it can't be heard."""
    if sys.stderr is None:  # closed by who called: what is told there is told to nobody
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # open to the end
    if sys.stdout is None:
        sys.exit("sledwarden: its output is closed: a terminal, a file or a pipe was expected.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name in another script, or in bytes that are no text, is told with marks.
        sys.stdout.reconfigure(errors="replace")
    try:
        app(prog_name="sledwarden")
    except OSError as fault:
        # A file that fails is told by its command with its name: what is left is the output.
        if fault.filename is not None or os.environ.get("DEBUG") == "1":
            raise
        # What is still to be written must not fail a second time at the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(f"sledwarden: its output can't be written: {fault.strerror}.")


if __name__ == "__main__":
    main()
