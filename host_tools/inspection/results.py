"""A sheet's results for other programs: JSON with every figure, and CSV, one check a line."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from typing import Any

from firmware import __version__
from host_tools.cells import as_cell
from host_tools.inspection.checks import Check
from host_tools.inspection.limits import limit_words
from host_tools.inspection.progress import Kept
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.states import CheckResult, RowResult, State

VERDICTS = {
    State.PASS: "passed",
    State.UNSURE: "unsure",
    State.FAIL: "failed",
    State.OPEN: "not complete",
    State.SKIPPED: "not complete",
}
"""What a whole sheet comes to, by the worst of its paragraphs."""


def as_object(kept: Kept, sheet: Sheet, utc: datetime) -> dict[str, Any]:
    """The whole sheet."""
    return {
        "sheet": 1,
        "software": f"sledwarden {__version__}",
        "at": f"{utc:%Y-%m-%dT%H:%M:%SZ}",
        "vehicle": kept.vehicle,
        "serial": kept.serial,
        "made": str(sheet.made) if sheet.made else "",
        "inspector": kept.by,
        "modes": list(kept.modes),
        "verdict": VERDICTS[sheet.verdict],
        "rows": [row_object(row) for row in sheet.rows()],
    }


def row_object(row: RowResult) -> dict[str, Any]:
    """A paragraph, with its checks."""
    checks = [check_object(one) for one in row.checks if one.check.type != "note"]
    whole = {
        "citation": row.clause.citation,
        "title": row.clause.title,
        "state": str(row.state),
        "why": row.why,
        "checks": checks,
    }
    return {key: value for key, value in whole.items() if value not in ("", [])}


def check_object(result: CheckResult) -> dict[str, Any]:
    """A check: keys are absent where there is no value."""
    check, answer = result.check, result.answer
    one: dict[str, Any] = {
        "item": check.item,
        "ask": check.ask,
        "state": str(result.state),
        "limit": result.limit or limit_words(check),
        "unit": check.unit,
        "why": result.why,
        "ours": check.ours,
    }
    if answer is not None and not answer.is_skipped:
        one["answer"] = answer.text
        one["value"] = _value(check, answer.word, answer.figure)
        one["error"] = answer.error or None
        one["by"] = answer.by
        one["taken"] = result.taken
    return {key: value for key, value in one.items() if value not in ("", None)}


def _value(check: Check, word: str, figure: float | None) -> object:
    if check.type == "yes_no":
        return word == "yes"
    return word or figure


def json_text(whole: dict[str, Any]) -> str:
    """The JSON, as it stands in its file."""
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


COLUMNS = (
    "citation", "title", "row_state", "item", "ask", "state", "answer", "unit", "error", "limit",
    "why", "by", "taken",
)  # fmt: skip


def csv_text(whole: dict[str, Any]) -> str:
    """The CSV: a line a check, and one for each paragraph that has none."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in whole["rows"]:
        head = {"citation": row["citation"], "title": row["title"], "row_state": row["state"]}
        for check in row.get("checks", [{"why": row.get("why", "")}]):
            line = head | {key: check[key] for key in COLUMNS if key in check}
            table.writerow({key: as_cell(value) for key, value in line.items()})
    return out.getvalue()
