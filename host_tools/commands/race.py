"""`sledwarden race`: an organizer's tokens: made, read, and handed to a standing unit."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
import typer

from firmware.clock import Clock
from firmware.errors import SledwardenError, UsageError
from firmware.feed.client import FeedClient
from firmware.feed.messages import DEFAULT_PATH
from firmware.files import whole
from firmware.race_token import PREFIX, Token, TokenError, issue, read, told
from firmware.signing import SigningKey
from host_tools.saving import saved
from host_tools.terminal import echo

ANSWER_S = 3.0
"""How long the unit may take to hear and to show its answer."""

TOKEN_BYTES = 4096

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Makes an organizer's race tokens, reads them, and hands them to a unit.\n\n"
    "For example: [bold]sledwarden race prove derby.token[/bold]",
)  # fmt: skip

TokenArgument = Annotated[str, typer.Argument(help="The token's line, or the file that holds it.")]


@app.command()
def token(
    event: Annotated[
        str, typer.Argument(help="The race's name, as the glass and the report say it.")
    ],
    place: Annotated[
        str, typer.Option(metavar="LAT,LON", help="The middle of the race's place, in degrees.")
    ],
    radius_m: Annotated[
        float, typer.Option("--radius", metavar="METRES", help="How far it reaches from there.")
    ],
    from_: Annotated[
        str, typer.Option("--from", metavar="TIME", help="When it begins: 2026-01-17T18:00.")
    ],
    to: Annotated[str, typer.Option(metavar="TIME", help="When it ends, at most 14 days later.")],
    unit: Annotated[str, typer.Option(help="The one sled it is for; without it, all.")] = "",
    time_zone: Annotated[
        str, typer.Option(help="Of times without a zone of their own.")
    ] = "America/Chicago",
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The organizer's key; made if not there.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to a new file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Signs a token that proves to a unit that a race is sanctioned, here and then.

    For example: [bold]sledwarden race token "Winter derby" --place 45.917,-89.244 --radius 2000
    --from 2026-01-17T18:00 --to 2026-01-17T23:00 -o derby.token[/bold]

    It lifts the night speed limit inside of its place and window, and nothing else. A unit calls it
    *proven* where its configuration names the key that is printed here; else it is *signed*.
    """
    lat_deg, lon_deg = _place(place)
    zone = _zone(time_zone)
    wanted = Token(
        event=event,
        lat_deg=lat_deg,
        lon_deg=lon_deg,
        radius_m=radius_m,
        from_utc=_instant(from_, "--from", zone),
        to_utc=_instant(to, "--to", zone),
        unit=unit,
    )
    where = key or Path(typer.get_app_dir("sledwarden")) / "organizer.key"
    signing = SigningKey.load(where)
    if signing is None:
        issue(wanted, SigningKey(bytes(32)))  # what is asked for is right, before a key is made
        signing = SigningKey.make(where)
        echo(f"a new key signs from now on: {where}: keep it safe", err=True)
    line = issue(wanted, signing)
    signed = read(line)
    if output is not None:
        with saved(output, is_forced=False) as beside:
            beside.write_text(line + "\n", "ascii")
    if json:
        typer.echo(msgspec.json.encode(_object(signed, line)).decode())
        return
    _tell(signed, zone)
    typer.echo(f'\nin the units\' sledwarden.toml:\n[race]\norganizers = ["{signed.key}"]\n')
    echo(str(output) if output is not None else line)


@app.command()
def show(
    token: TokenArgument,
    unit: Annotated[str, typer.Option(help="The sled that it should be for.")] = "",
    time_zone: Annotated[str, typer.Option(help="For telling its times.")] = "America/Chicago",
    json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Reads a token: what it says, whose key signed it, and whether its window is open now.

    For example: [bold]sledwarden race show derby.token --unit sled-7[/bold]

    Exit code 0 is for a token that would hold now, by this computer's clock.
    """
    line = _line(token)
    found = read(line)
    fault = ""
    try:
        if unit:
            found.refuse_unless_for(unit)
        found.refuse_unless_now(Clock().system_utc())
    except TokenError as why:
        fault = why.what
    if json:
        shown = _object(found, line) | ({"why_not": fault} if fault else {})
        typer.echo(msgspec.json.encode(shown).decode())
    else:
        _tell(found, _zone(time_zone))
        echo(f"now: it {fault}" if fault else "now: it holds, inside of its place")
    if fault:
        raise typer.Exit(1)


@app.command()
def prove(
    token: TokenArgument,
    feed: Annotated[Path, typer.Option(help="The unit's socket.")] = DEFAULT_PATH,
    by: Annotated[str, typer.Option(help="Who hands it over; stands in the journal.")] = "",
) -> None:
    """Hands a token to a unit that stands at the race, and says what came of it.

    For example: [bold]sledwarden race prove derby.token --by "Start marshal"[/bold]
    """
    line = _line(token)
    found = read(line)
    unit, clock = FeedClient(feed), Clock()
    until_s = clock.mono_s() + ANSWER_S
    was_asked = False
    before = ""
    try:
        while clock.mono_s() < until_s:
            unit.poll(0.1)
            state = unit.state
            if state is None or not unit.is_alive:
                continue
            if was_asked and (state.prompt != before or found.words in " ".join(state.mode_words)):
                said = " ".join(state.prompt.split())
                words = dict(zip(state.modes, state.mode_words, strict=False)).get("race", "")
                if found.words in words:
                    echo(f"race mode is on: {words}")
                    return
                if said:
                    raise SledwardenError("race", f"refused: {said}.", _ADVICE)
            if not was_asked:
                before = state.prompt
                was_asked = unit.send("race", line, by)
        trouble = unit.trouble  # closing it says only that
    finally:
        unit.close()
    if not was_asked:
        raise SledwardenError(
            str(feed), f"no unit is heard ({trouble}).", "Run it on the unit, or name --feed."
        )
    raise SledwardenError("race", f"the unit did not answer in {ANSWER_S:g} s.")


_ADVICE = "Read it with sledwarden race show; the sled must stand at the race, with a GPS fix."


def _line(text: str) -> str:
    """The token's line itself, or that in a file."""
    if text.strip().startswith(f"{PREFIX}."):
        return text.strip()
    if not text.strip():
        raise SledwardenError("token", "is empty: a token's line, or its file, was expected.")
    try:
        octets = whole(Path(text), "a race token", TOKEN_BYTES)
    except OSError as fault:
        raise SledwardenError(text, f"can't be read: {fault.strerror}.") from fault
    return octets.decode("ascii", "replace").strip()


def _place(text: str) -> tuple[float, float]:
    lat, sep, lon = text.partition(",")
    try:
        if not sep:
            raise ValueError(text)
        return float(lat), float(lon)
    except ValueError:
        raise UsageError(
            "--place", f"{text}: must be latitude, comma, longitude, like 45.917,-89.244."
        ) from None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            "--time-zone", f'{name}: must be an IANA name, like "America/Chicago".'
        ) from None


def _instant(text: str, option: str, zone: ZoneInfo) -> datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            option, f"{text}: must be like 2026-01-17T18:00, or with its zone, ...T18:00-06:00."
        ) from None
    when = when.replace(tzinfo=zone) if when.tzinfo is None else when
    return when.astimezone(UTC).replace(microsecond=0)


def _object(token: Token, line: str) -> dict[str, object]:
    return {
        "event": token.event,
        "lat": token.lat_deg,
        "lon": token.lon_deg,
        "radius_m": token.radius_m,
        "from": token.from_utc,
        "to": token.to_utc,
        "unit": token.unit,
        "key": token.key,
        "words": token.words,
        "token": line,
    }


def _tell(token: Token, zone: ZoneInfo) -> None:
    first, last = token.from_utc.astimezone(zone), token.to_utc.astimezone(zone)
    lines = (
        ("race", token.event),
        ("place", f"{token.lat_deg:.5f}, {token.lon_deg:.5f}, {token.radius_m:.0f} m about it"),
        ("from", f"{first:%a %Y-%m-%d %H:%M %Z}, {told(token.from_utc)}"),
        ("to", f"{last:%a %Y-%m-%d %H:%M %Z}, {told(token.to_utc)}"),
        ("sled", token.unit or "all"),
        ("signed by", f"{token.words}, {token.key}"),
    )
    for name, text in lines:
        sys.stdout.write(f"{name:>9}  {text}\n")
