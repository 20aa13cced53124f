"""A sheet's answers as a file: kept beside the sheet at each answer, and read with `--answers`.

JSON, or TOML by its name. An answer is a text, a figure or a truth; one that was passed over is
`{"skipped": "why"}`, one that was measured `{"answer": "38.2 +- 6", "by": "how"}`. All that is
wrong with a file is told at once.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from firmware import toml_text
from firmware.errors import ConfigError
from firmware.files import CONFIG_BYTES, whole
from host_tools.inspection.answers import Answer, AnswerError, skipped
from host_tools.inspection.checks import MADE
from host_tools.inspection.sheet import MADE_ON, Sheet
from host_tools.saving import saved

ADVICE = "Put it right in the file and try again."

_TEXTS = ("vehicle", "serial", "by", "year")


@dataclass(slots=True)
class Kept:
    """What a file says: of the vehicle, and its answers as they were given."""

    vehicle: str = ""
    year: str = ""
    serial: str = ""
    by: str = ""
    modes: tuple[str, ...] = ()
    law: tuple[str, ...] = ()
    answers: dict[str, Any] = field(default_factory=dict)


def read(path: Path) -> Kept:
    """What a file of answers says; raises ConfigError with every fault of its form."""
    where = str(path)
    try:
        octets = whole(path, "a file of answers", CONFIG_BYTES, _fault)
        text = octets.decode("utf-8-sig")
        document = toml_text.read(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as fault:
        raise ConfigError(where, [f"can't be read: {fault.strerror}."], ADVICE) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigError(where, [f"must be JSON, or TOML as .toml: {fault}."], ADVICE) from None
    if not isinstance(document, dict):
        raise ConfigError(where, ["must be an object with the key answers."], ADVICE)
    return _kept(where, document)


def _fault(where: str, what: str) -> ConfigError:
    return ConfigError(where, [what])


def _kept(where: str, document: dict[str, Any]) -> Kept:
    faults = []
    kept = Kept()
    for key, value in document.items():
        if key in _TEXTS and isinstance(value, str | int) and not isinstance(value, bool):
            setattr(kept, key, str(value))
        elif key in ("modes", "law") and isinstance(value, list):
            setattr(kept, key, tuple(map(str, value)))
        elif key == "answers" and isinstance(value, dict):
            kept.answers = value
        else:
            known = ", ".join((*_TEXTS, "modes", "law", "answers"))
            faults.append(f"{key}: must be one of {known}, and of its type.")
    if faults:
        raise ConfigError(where, faults, ADVICE)
    return kept


def fill(sheet: Sheet, given: dict[str, Any], where: str) -> None:
    """Takes answers from a file into a sheet, whatever their order; raises ConfigError.

    What decides whether another answer counts is taken first: facts before checks.
    """
    faults = []
    items = (*sheet.inspection.items, MADE_ON.item)
    faults += [f"{item}: {_absence(sheet, item, items)}" for item in given if item not in items]
    order = sorted((item for item in given if item in items), key=lambda one: _rank(one, items))
    for item in order:
        try:
            _put(sheet, item, given[item])
        except AnswerError as fault:
            faults.append(f"{item} = {fault}")
    if faults:
        raise ConfigError(where, faults, ADVICE)


def _rank(item: str, items: tuple[str, ...]) -> int:
    return {MADE.item: -2, MADE_ON.item: -1}.get(item, items.index(item))


def _absence(sheet: Sheet, item: str, items: Collection[str]) -> str:
    """Why nothing is asked of that name, and what may have been meant."""
    modes = sheet.inspection.undue.get(item)
    if modes is not None:
        return f"is asked only with {' or '.join(f'--mode {one}' for one in modes)}."
    near = difflib.get_close_matches(item, items, n=1)
    guess = f": did you mean {near[0]}?" if near else "."
    return f"there is no such item on this sheet{guess}"


def _put(sheet: Sheet, item: str, value: Any) -> None:
    if isinstance(value, dict):
        if set(value) == {"skipped"}:
            sheet.put(item, skipped(str(value["skipped"])))
            return
        if "answer" not in value or not set(value) <= {"answer", "by"}:
            raise AnswerError(
                f'{value}: {{"skipped": why}} or {{"answer": ..., "by": how}} expected.'
            )
        answer = sheet.take(item, _text(value["answer"]))
        sheet.put(item, replace(answer, by=str(value.get("by", ""))))
        return
    sheet.take(item, _text(value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def save(path: Path, kept: Kept, sheet: Sheet) -> None:
    """Keeps the answers, whole or not at all, in the order in which they came."""
    document = {
        "vehicle": kept.vehicle,
        "year": kept.year,
        "serial": kept.serial,
        "by": kept.by,
        "modes": list(kept.modes),
        "law": list(kept.law),
        "answers": {item: _kept_answer(answer) for item, answer in sheet.answers.items()},
    }
    with saved(path, is_forced=True) as beside:
        beside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _kept_answer(answer: Answer) -> Any:
    if answer.is_skipped:
        return {"skipped": answer.reason}
    if answer.by:
        return {"answer": answer.text, "by": answer.by}
    return answer.text
