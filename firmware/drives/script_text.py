"""The grammar of a `.drive`: its text to a `Drive`, or every fault of it at once.

A fault names the file, the line, the word and what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from firmware.drives import ride
from firmware.drives.script import (
    Action,
    Ambient,
    Asked,
    Button,
    ClockStep,
    Deed,
    Drive,
    End,
    EngineRuns,
    Fault,
    Lamp,
    Mode,
    Play,
    Plug,
    PowerCut,
    RtcSet,
    Send,
    TetherTurns,
)
from firmware.errors import DriveError
from firmware.files import DRIVE_BYTES, whole
from firmware.gps.dates import FIRST, LAST, is_carried
from firmware.readings import TetherState
from firmware.units import mps

VEHICLES = ("snowmobile", "low_speed_vehicle", "motor_vehicle")
MODES = ("race", "maker_test", "family_land")
FAULTS = ("eio", "nack", "hang", "saturate", "ones", "zeros", "clear")


def load(path: Path) -> Drive:
    """Reads a `.drive`; raises `DriveError` with every fault of it."""
    try:
        text = whole(path, "a drive", DRIVE_BYTES, DriveError).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise DriveError(str(path), f"byte {fault.start} is not UTF-8: must be text.") from fault
    except OSError as fault:
        raise DriveError(str(path), f"can't be read: {fault.strerror}.") from fault
    return parse(text, path)


def parse(text: str, path: Path) -> Drive:
    """Parses the text of a `.drive` that stands at `path`; its paths start at that folder."""
    return _Parser(path).parse(text)


class _FaultyWordError(Exception):
    """What is wrong with one word, until the parser says on which line."""


class _Parser:
    """One pass over the lines, which goes on after a fault to tell them all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.parent.resolve()
        self._faults: list[str] = []
        self._actions: list[Action] = []
        self._drive = Drive(path, name=path.stem)
        self._seen: set[str] = set()
        self._headers: dict[str, Callable[[Drive, str], Drive]] = {
            "Name": lambda drive, text: replace(drive, name=text),
            "Law": lambda drive, text: replace(drive, laws=tuple(_listed(text))),
            "Vehicle": lambda drive, text: replace(drive, vehicle=_one_of(text, VEHICLES)),
            "Mode": lambda drive, text: replace(
                drive, modes=tuple(_one_of(name, MODES) for name in _listed(text))
            ),
            "Zones": lambda drive, text: replace(
                drive, zones=tuple(self._file(name) for name in _listed(text))
            ),
            "Config": lambda drive, text: replace(drive, config=self._file(text)),
            "Start": lambda drive, text: replace(drive, start=_instant(text)),
            "Floor": lambda drive, text: replace(drive, floor=_date(text)),
            "Shows": lambda drive, text: replace(drive, shows=text),
            "Proves": lambda drive, text: replace(
                drive, proves=tuple(one.strip() for one in text.split(",") if one.strip())
            ),
            "Source": lambda drive, text: replace(drive, source=text),
            "Licence": lambda drive, text: replace(drive, licence=text),
        }
        self._words: dict[str, Callable[[str], Deed]] = {
            "play": self._play,
            "ambient": _ambient,
            "lamp": _lamp,
            "engine": lambda text: EngineRuns(_switch(text)),
            "gps": _sentence,
            "gps-hex": _octets,
            "tether": lambda text: TetherTurns(TetherState(_one_of(text, list(TetherState)))),
            "button": _button,
            "fault": _fault,
            "clock": _clock,
            "rtc": _rtc,
            "unplug": lambda text: _plug(text, False),
            "replug": lambda text: _plug(text, True),
            "power": _power,
            "mode": _mode,
            "ask": _ask,
            "ride": _ride,
            "end": _end,
        }

    def parse(self, text: str) -> Drive:
        for number, line in enumerate(text.splitlines(), 1):
            stripped = line.strip()
            word = ""
            try:
                if stripped.startswith("#"):
                    header = re.match(r"#\s*([A-Za-z]+):\s*(.*)$", stripped)
                    if header is not None and not self._actions:
                        word = header[1]
                        self._header(word, header[2])
                elif stripped:
                    seconds, word, arguments = [*stripped.split(None, 2), "", ""][:3]
                    self._action(number, seconds, word, arguments)
            except _FaultyWordError as fault:
                self._faults.append(f"{number}: {word}: {fault}" if word else f"{number}: {fault}")
        self._check_whole()
        if self._faults:
            first, *others = self._faults
            what = "\n".join([first, *(f"{self._path}:{other}" for other in others)])
            number_text, _, said = what.partition(": ")
            raise DriveError(f"{self._path}:{number_text}", said)
        return replace(self._drive, actions=tuple(self._actions))

    def _header(self, key: str, text: str) -> None:
        if key not in self._headers:
            raise _FaultyWordError(
                f"not a header: must be one of {', '.join(self._headers)}. "
                "Write a remark without a colon after its first word."
            )
        if key in self._seen:
            raise _FaultyWordError("stands twice: once is enough.")
        self._seen.add(key)
        self._drive = self._headers[key](self._drive, text)

    def _action(self, number: int, seconds: str, word: str, arguments: str) -> None:
        try:
            at_s = _number(seconds, 0.0, 1e7)
        except _FaultyWordError as fault:
            raise _FaultyWordError(f"{fault} A line is SECONDS WORD ARGUMENTS.") from fault
        if word not in self._words:
            raise _FaultyWordError(f"not a word: must be one of {', '.join(self._words)}.")
        deed = self._words[word](arguments)
        if self._actions and at_s < self._actions[-1].at_s:
            raise _FaultyWordError(
                f"{seconds} s is before the line above ({self._actions[-1].at_s:g} s): "
                "must not go back."
            )
        if self._actions and isinstance(self._actions[-1].deed, PowerCut | End):
            raise _FaultyWordError("nothing may come after `power cut` or `end`.")
        self._actions.append(Action(at_s, deed, number))

    def _check_whole(self) -> None:
        rides = [one for one in self._actions if isinstance(one.deed, ride.Change)]
        speaks = None
        for action in self._actions:
            if isinstance(action.deed, Play):
                speaks = "play"
            elif isinstance(action.deed, ride.Change):
                if speaks != "ride" and None in (action.deed.lat_deg, action.deed.lon_deg):
                    self._faults.append(
                        f"{action.line}: ride: the first of a row must have lat= and lon=."
                    )
                speaks = "ride"
        if rides and self._drive.start is None and "Start" not in self._seen:
            self._faults.append(
                f"{rides[0].line}: ride: must have a header `# Start: 2026-01-17T22:30:00Z`, "
                "the instant of second 0."
            )
        last = self._actions[-1].deed if self._actions else None
        if rides and not (
            rides[-1].deed == ride.Change(state="stop") or isinstance(last, PowerCut | End)
        ):
            self._faults.append(
                f"{rides[-1].line}: ride: must end with `ride stop`, `end` or `power cut`."
            )
        if not self._actions and not self._faults:
            self._faults.append("1: nothing happens: must have at least one line with seconds.")

    def _file(self, name: str) -> Path:
        path = (self._folder / name).resolve()
        if not name or Path(name).is_absolute() or not path.is_relative_to(self._folder):
            raise _FaultyWordError(
                f"{name or 'no file'}: must be a path in the drive's own folder."
            )
        if not path.is_file():
            raise _FaultyWordError(f"{name}: no such file in {self._folder}.")
        return path

    def _play(self, text: str) -> Deed:
        name, _, rest = text.partition(" ")
        options = _options(rest, ("from", "to"))
        from_s = _number(options["from"], 0.0, 1e7) if "from" in options else 0.0
        to_s = _number(options["to"], from_s, 1e7) if "to" in options else math.inf
        return Play(self._file(name), from_s, to_s)


def _listed(text: str) -> list[str]:
    return [part for part in re.split(r"[,\s]+", text) if part]


def _one_of(text: str, known: tuple[str, ...] | list[str]) -> str:
    if text not in known:
        raise _FaultyWordError(f"{text or 'nothing'}: must be {_either(known)}.")
    return text


def _either(known: tuple[str, ...] | list[str]) -> str:
    return f"{', '.join(known[:-1])} or {known[-1]}" if len(known) > 1 else known[0]


def _number(text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise _FaultyWordError(f"{text or 'nothing'}: must be a number from {least:g} to {most:g}.")
    return value


def _options(text: str, known: tuple[str, ...]) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            named = _either([f"{one}=" for one in known])
            raise _FaultyWordError(f"{part}: must be {named}.")
        if key in options:
            raise _FaultyWordError(f"{key}= stands twice: once is enough.")
        options[key] = value
    return options


def _switch(text: str) -> bool:
    return _one_of(text, ("on", "off")) == "on"


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = datetime.min  # noqa: DTZ901 - naive on purpose: refused just below
    if instant.tzinfo is None:
        raise _FaultyWordError(f"{text}: must be ISO 8601 in UTC, like 2026-01-17T22:30:00Z.")
    try:
        utc = instant.astimezone(UTC)
    except OverflowError:
        utc = datetime.max.replace(tzinfo=UTC)  # refused just below
    if not is_carried(utc.date()):
        raise _FaultyWordError(f"{text}: must be from {FIRST} to {LAST}.")
    return utc


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as fault:
        raise _FaultyWordError(f"{text}: must be a date, like 2026-01-17.") from fault


def _ambient(text: str) -> Deed:
    return Ambient(None if text == "follow-sun" else _number(text, 0.0, 200_000.0))


def _lamp(text: str) -> Deed:
    which, _, rest = text.partition(" ")
    options = _options(rest, ("supply", "light", "colour"))
    if not options:
        raise _FaultyWordError("must say supply=, light= or colour=.")
    colour, supply = options.get("colour"), options.get("supply")
    return Lamp(
        "head" if _one_of(which, ("head", "tail")) == "head" else "tail",
        None if supply is None else _one_of(supply, ("on", "off", "open")) == "on",
        _number(options["light"], 0.0, 200_000.0) if "light" in options else None,
        None if colour is None else _one_of(colour, ("red", "white")) == "red",
        supply == "open",
    )


def _sentence(text: str) -> Deed:
    if not text:
        raise _FaultyWordError("must have a sentence, which is sent raw as it stands.")
    return Send(text.encode() + b"\r\n")


def _octets(text: str) -> Deed:
    try:
        octets = bytes.fromhex(text)
    except ValueError:
        octets = b""
    if not octets:
        raise _FaultyWordError("must have pairs of hexadecimal digits, like b5 62 01 07.")
    return Send(octets)


def _button(text: str) -> Deed:
    return Button("press" if _one_of(text, ("press", "hold")) == "press" else "hold")


def _fault(text: str) -> Deed:
    bus, address, kind = [*text.split(), "", "", ""][:3]
    if not re.fullmatch(r"i2c-\d+", bus):
        raise _FaultyWordError(f"{bus or 'nothing'}: must be a bus, like i2c-1.")
    if not re.fullmatch(r"0x[0-7][0-9a-fA-F]", address):
        raise _FaultyWordError(f"{address or 'nothing'}: must be an address, like 0x23.")
    return Fault(bus, int(address, 16), _one_of(kind, FAULTS))


def _clock(text: str) -> Deed:
    match = re.fullmatch(r"step\s+([+-]\d+(?:\.\d+)?)", text)
    if match is None:
        raise _FaultyWordError(f"{text or 'nothing'}: must be step and signed seconds: step +3600.")
    return ClockStep(float(match[1]))


def _rtc(text: str) -> Deed:
    if text == "dead":
        return RtcSet(None)
    try:
        return RtcSet(_instant(text))
    except _FaultyWordError as fault:
        raise _FaultyWordError(f"{fault} Or dead, for an empty battery.") from fault


def _plug(text: str, is_in: bool) -> Deed:
    _one_of(text, ("gps",))
    return Plug(is_in)


def _power(text: str) -> Deed:
    _one_of(text, ("cut",))
    return PowerCut()


def _mode(text: str) -> Deed:
    name, _, state = text.partition(" ")
    return Mode(_one_of(name, MODES), _switch(state.strip()))


def _ask(text: str) -> Deed:
    action, _, argument = text.partition(" ")
    _one_of(action, ("race", "note"))
    if not argument.strip():
        raise _FaultyWordError(f"{action}: must be followed by a token, or by the note's text.")
    return Asked(action, argument.strip())


def _end(text: str) -> Deed:
    if text:
        raise _FaultyWordError(f"{text}: must stand alone.")
    return End()


_RIDE_RANGES = {
    "lat": (-89.0, 89.0),
    "lon": (-180.0, 180.0),
    "heading": (0.0, 360.0),
    "speed": (0.0, 400.0),
    "over": (0.001, 36_000.0),
    "rate": (0.1, 25.0),
    "hdop": (0.1, 99.0),
    "gst": (0.001, 1000.0),
}


def _ride(text: str) -> Deed:
    if text in ("stop", "void", "fix"):
        return ride.Change(state=text)
    options = _options(text, tuple(_RIDE_RANGES))
    if not options:
        raise _FaultyWordError("must be stop, void, fix, or say lat=, lon=, heading=, speed= ...")
    figures: dict[str, float] = {}
    for key, value in options.items():
        try:
            figures[key] = _number(value, *_RIDE_RANGES[key])
        except _FaultyWordError as fault:
            raise _FaultyWordError(f"{key}={fault}") from fault
    if ("lat" in figures) != ("lon" in figures):
        raise _FaultyWordError("must have both lat= and lon=, or neither.")
    if "over" in figures and "speed" not in figures:
        raise _FaultyWordError("over= must have a speed= to reach.")
    return ride.Change(
        lat_deg=figures.get("lat"),
        lon_deg=figures.get("lon"),
        heading_deg=figures.get("heading"),
        speed_mps=mps(figures["speed"]) if "speed" in figures else None,
        over_s=figures.get("over", 0.0),
        rate_hz=figures.get("rate"),
        hdop=figures.get("hdop"),
        gst_m=figures.get("gst"),
    )
