"""`sledwarden inspect`: a guided inspection of a vehicle, to a signed sheet."""

from __future__ import annotations

import hashlib
import re
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from firmware.clock import Clock
from firmware.config.reading import load as load_config
from firmware.errors import ConfigError, SledwardenError, UsageError
from firmware.feed.messages import DEFAULT_PATH
from firmware.files import whole
from firmware.law.packs import MODES
from firmware.port.hosts import words_of
from firmware.signing import SigningKey
from host_tools.inspection import checks, progress
from host_tools.inspection.answers import AnswerError
from host_tools.inspection.checks import MADE
from host_tools.inspection.guiding import Guide, StoppedError, tell
from host_tools.inspection.measuring import LIVE, Taken, measure
from host_tools.inspection.paper import page
from host_tools.inspection.progress import Kept
from host_tools.inspection.results import as_object, csv_text, json_text
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.signature import proof_of, signed
from host_tools.inspection.states import State
from host_tools.saving import refuse_unwritable, saved
from host_tools.terminal import Console, echo

Vehicle = Literal["snowmobile", "low_speed_vehicle", "motor_vehicle"]
SHEET_BYTES = 8 << 20
TABLES = (".json", ".csv")
"""What stands beside a sheet, for programs."""

_SOURCE = f"A recording, or {LIVE}."

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
def inspect(
    vehicle: Annotated[
        Vehicle | None, typer.Option(help="What is inspected; a snowmobile where nothing says so.")
    ] = None,
    year: Annotated[
        str | None, typer.Option(help="Its date of make, as far as it is known: 1994, 1994-05-07.")
    ] = None,
    serial: Annotated[str | None, typer.Option(help="Its serial number, for the sheet.")] = None,
    by: Annotated[str | None, typer.Option(help="Who inspects it, for the sheet.")] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(help=f"What it is used for: {', '.join(MODES)}; self-declared."),
    ] = None,
    law: Annotated[
        list[str] | None, typer.Option(help="A pack with checks beside it; may be repeated.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the answers from JSON or TOML.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take vehicle and year from a unit's file.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The sheet; its JSON and CSV stand beside it.")
    ] = Path("inspection.html"),
    force: Annotated[bool, typer.Option("--force", help="Replace a sheet that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The key that signs; made if it is not there."),
    ] = None,
    brake: Annotated[
        str | None, typer.Option(metavar="SOURCE", help=f"Measure the stop from 20 mph. {_SOURCE}")
    ] = None,
    speedometer: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help=f"Measure the speed indicator's error. {_SOURCE}"),
    ] = None,
    odometer: Annotated[
        str | None, typer.Option(metavar="SOURCE", help=f"Measure the odometer's error. {_SOURCE}")
    ] = None,
    lamps: Annotated[
        str | None, typer.Option(metavar="SOURCE", help=f"Measure the head lamp's light. {_SOURCE}")
    ] = None,
    feed: Annotated[Path, typer.Option(help="The unit's socket, for what is live.")] = DEFAULT_PATH,
    check: Annotated[
        Path | None, typer.Option(metavar="SHEET", help="Prove a signed sheet, and end.")
    ] = None,
    signer: Annotated[
        str | None, typer.Option(help="With --check: the public key in hex that must have signed.")
    ] = None,
) -> None:
    """Leads through the inspection of a vehicle, from the law packs to a signed sheet.

    For example: [bold]sledwarden inspect --vehicle snowmobile --year 2019 -o sled-7.html[/bold]

    Each answer is kept at once: q or Ctrl-C leaves, and the same command goes on. Nothing passes by
    default. What the unit can measure it measures, with its error: [bold]--brake live[/bold], or
    [bold]--brake ride.drive[/bold]. Exit code 0 is for a sheet on which all is kept.
    """
    if check is not None:
        _check(check, signer, json)
        return
    if signer is not None:
        raise UsageError("--signer", "goes with --check.")
    told = Console(stderr=json, highlight=False)
    wished = Kept(
        vehicle or "", year or "", serial or "", by or "", tuple(mode or ()), tuple(law or ())
    )
    kept, sheet, beside = _open(wished, answers, config, output, force)
    gauges = {"brake": brake, "speedometer": speedometer, "odometer": odometer, "lamps": lamps}
    wanted = {gauge: source for gauge, source in gauges.items() if source is not None}
    if wanted:
        measured = _measure(wanted, sheet, feed, told)
        progress.save(beside, kept, sheet)
        told.print(Text(f"kept in {beside}"))
        if json:
            sys.stdout.write(json_text({"measured": measured, "kept": str(beside)}))
        if any(_state_of(sheet, gauge) is not State.PASS for gauge in wanted):
            raise typer.Exit(1)
        return
    if answers is None:
        _guide(kept, sheet, beside, feed, told)
    where = key or Path(typer.get_app_dir("sledwarden")) / "dealer.key"
    known = SigningKey.load(where)
    signing = known or SigningKey.make(where)
    try:
        _write(kept, sheet, output, signing, json, told, is_told=answers is None)
    except BaseException:
        if known is None:
            where.unlink(missing_ok=True)  # it has signed nothing
        raise
    if known is None:
        told.print(Text(f"a new key signs from now on: {where} ({words_of(signing.public)})"))
        told.print(Text(f"its public half is {signing.public.hex()}: keep the file safe"))
    if sheet.verdict is not State.OPEN:
        beside.unlink(missing_ok=True)
    else:
        progress.save(beside, kept, sheet)
    if sheet.verdict is not State.PASS:
        raise typer.Exit(1)


def _open(
    wished: Kept, answers: Path | None, config: Path | None, output: Path, force: bool
) -> tuple[Kept, Sheet, Path]:
    """What is known before the first question: the command line, a file of answers, what was kept
    beside the sheet, the unit's configuration; each before the next."""
    if output.suffix != ".html":
        raise UsageError("--output", f"{output}: must end in .html.")
    beside = output.with_suffix(".progress.json")
    refuse_unwritable(output, *map(output.with_suffix, TABLES))
    if answers is not None and answers.resolve() in map(
        Path.resolve, map(output.with_suffix, TABLES)
    ):
        raise UsageError("--output", f"{output}: its tables would replace {answers}.")
    if output.exists() and not force and not beside.exists():
        raise SledwardenError(
            str(output),
            "is there already: must be a new file.",
            "Name another with -o, or --force.",
        )
    source = answers or (beside if beside.exists() else None)
    kept = wished if source is None else progress.read(source)
    for name in ("vehicle", "year", "serial", "by"):
        mine, theirs = getattr(wished, name), getattr(kept, name)
        if mine and theirs and mine != theirs and source == beside:
            raise SledwardenError(
                str(beside),
                f"{name} = {theirs}, and {mine} was asked for.",
                "Go on with it as it is, or name another sheet with -o.",
            )
        if mine:
            setattr(kept, name, mine)
    if source != beside and beside.exists() and not force:
        _is_another(kept, beside, output)
    kept.modes, kept.law = wished.modes or kept.modes, wished.law or kept.law
    if config is not None:
        unit = load_config(config).unit
        kept.vehicle = kept.vehicle or unit.vehicle
        kept.year = kept.year or ("" if unit.year is None else str(unit.year))
    kept.vehicle = kept.vehicle or "snowmobile"
    where = str(source or "sledwarden inspect")
    faults = [
        f"mode = {one}: must be one of {', '.join(MODES)}."
        for one in kept.modes
        if one not in MODES
    ]
    if kept.vehicle not in checks.PACKS_OF:
        faults.append(f"vehicle = {kept.vehicle}: must be one of {', '.join(checks.PACKS_OF)}.")
    if faults:
        raise ConfigError(where, faults, progress.ADVICE)
    sheet = Sheet(checks.load(kept.vehicle, kept.law, kept.modes), kept.modes)
    given = dict(kept.answers)
    if kept.year:
        given[MADE.item] = kept.year
    progress.fill(sheet, given, where)
    return kept, sheet, beside


def _is_another(kept: Kept, beside: Path, output: Path) -> None:
    """Refuses a file of answers for another vehicle than the one whose sheet is under way there."""
    there = progress.read(beside)
    for name in ("vehicle", "year", "serial"):
        mine, theirs = getattr(kept, name), getattr(there, name)
        if mine and theirs and mine != theirs:
            raise SledwardenError(
                str(output),
                f"is the sheet of another: {name} = {theirs} in {beside.name}, and this is {mine}.",
                "Name another with -o, or --force.",
            )


def _guide(kept: Kept, sheet: Sheet, beside: Path, feed: Path, out: Console) -> None:
    """Asks what is open, to the signature; raises typer.Exit where the person leaves."""
    if not sys.stdin.isatty():
        raise UsageError(
            "sledwarden inspect",
            "asks its questions in a terminal, and there is none.",
            "Give --answers FILE, or run it in a terminal.",
        )

    def ask(label: str) -> str:
        out.print(label, end="", markup=False)
        return input()

    def take(gauge: str) -> list[Taken]:
        source = ask("Enter for the unit, or a recording's name: ").strip()
        return measure(gauge, source or LIVE, feed, out)

    def keep() -> None:
        progress.save(beside, kept, sheet)

    guide = Guide(sheet, out, ask, keep, take)
    try:
        kept.serial = guide.text("Serial number", kept.serial)
        kept.by = guide.text("Inspected by", kept.by)
        keep()
        guide.lead()
        while not guide.confirm():
            guide.lead()
    except (StoppedError, KeyboardInterrupt):  # the latter between two questions
        keep()
        rows = sheet.rows()
        done = sum(one.state is not State.OPEN for one in rows)
        out.print(Text(f"\n{done} of {len(rows)} paragraphs are done, and kept in {beside}."))
        out.print("The same command goes on.")
        raise typer.Exit(1) from None


def _measure(
    wanted: dict[str, str], sheet: Sheet, feed: Path, out: Console
) -> list[dict[str, object]]:
    """Measures, puts the figures on the sheet and tells them; gives them back as objects."""
    told: list[dict[str, object]] = []
    known = sheet.inspection.items
    for gauge, source in wanted.items():
        for item, answer, how in measure(gauge, source, feed, out):
            if item not in known:
                raise SledwardenError(
                    f"--{gauge}", f"is no part of the inspection of a {sheet.inspection.vehicle}."
                )
            try:
                sheet.put(item, replace(sheet.take(item, answer), by=how))
            except AnswerError as fault:
                raise SledwardenError(f"--{gauge}", str(fault)) from fault
        for item, kept in sheet.answers.items():
            question = sheet.inspection.question(item)
            if question is not None and question.measured == gauge:
                state = _state_of(sheet, gauge)
                out.print(Text(f"{item} = {kept.text} {question.unit}: {state}"))
                told.append(
                    {
                        "item": item,
                        "value": kept.figure,
                        "error": kept.error,
                        "unit": question.unit,
                        "state": str(state),
                        "by": kept.by,
                    }
                )
    return told


def _state_of(sheet: Sheet, gauge: str) -> State:
    """What the measured figures come to on their own, whatever else is still open."""
    states = []
    for _, one_row in sheet.inspection.rows:
        for one in one_row:
            answer = sheet.answers.get(one.item)
            if one.measured == gauge and answer is not None and not answer.is_skipped:
                states.append(sheet.judged(one, answer).state)
    return next((one for one in (State.FAIL, State.UNSURE) if one in states), State.PASS)


def _write(
    kept: Kept,
    sheet: Sheet,
    output: Path,
    key: SigningKey,
    json: bool,
    out: Console,
    *,
    is_told: bool,
) -> None:
    """Writes the three files, or none; the page names the digests of the other two. `is_told` says
    that the person has just seen what it came to."""
    results = as_object(kept, sheet, Clock().system_utc())
    tables = (json_text(results).encode(), csv_text(results).encode())
    texts = dict(zip(map(output.with_suffix, TABLES), tables, strict=True))
    digests = {path.name: hashlib.sha256(octets).hexdigest() for path, octets in texts.items()}
    html = page(results, words=words_of(key.public), digests=digests, name=output.name)
    with ExitStack() as files:
        for path, octets in {**texts, output: signed(html, key)}.items():
            files.enter_context(saved(path, is_forced=True)).write_bytes(octets)
    if json:
        sys.stdout.write(json_text(results))
    elif not is_told:
        tell(out, sheet)
    out.print(Text(f"{output}, {', '.join(digests)}; signed by {words_of(key.public)}"))


def _check(path: Path, signer: str | None, json: bool) -> None:
    """Proves a sheet: that these bytes were signed, by whom, and the files that stand beside it."""
    if signer is not None and not re.fullmatch("[0-9a-fA-F]{64}", signer):
        raise UsageError(
            "--signer",
            f"{signer[:80]}: must be a public key, 64 hex digits.",
            "The dealer's `inspect` printed it when the key was made; --check prints a sheet's.",
        )
    try:
        octets = whole(path, "a signed sheet", SHEET_BYTES)
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be read: {fault.strerror}.") from fault
    proof = proof_of(octets)
    wrong = proof.fault
    if not wrong and signer is not None and signer.lower() != proof.key:
        wrong = f"it was signed by another key, {proof.words}"
    beside = {}
    for suffix in TABLES:
        one = path.with_suffix(suffix)
        if not wrong and one.is_file():
            digest = hashlib.sha256(one.read_bytes()).hexdigest()
            beside[one.name] = f"{digest[:32]}</code>".encode() in octets
    changed = [name for name, is_same in beside.items() if not is_same]
    if not wrong and changed:
        wrong = f"{', '.join(changed)} beside it is not what it was made with"
    if json:
        shown = {"sheet": str(path), "is_whole": not wrong, "key": proof.key, "words": proof.words}
        sys.stdout.write(json_text(shown | ({"why": wrong} if wrong else {})))
    elif wrong:
        echo(f"{path}: NOT proven: {wrong}.")
    else:
        echo(f"{path}: whole: not a letter was changed since it was signed.")
        echo(f"signed by {proof.words}, {proof.key}")
        if beside:
            echo(f"beside it, the same as then: {', '.join(beside)}")
        if signer is None:
            echo("Whose key that is, ask the dealer for the four words; or say --signer.")
    if wrong:
        raise typer.Exit(1)
