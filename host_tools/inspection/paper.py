"""The sheet as a page: it opens offline, runs no script, and prints on one sheet of paper.

What failed stands first and in words; what does not apply says why, in small letters at the end.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from host_tools.report.markup import Child, Markup, el

DENSE_ROWS = 24
"""A sheet of more paragraphs is set in columns: two on a screen, three on paper."""

CLOSE_REMARKS = 8
"""A dense sheet on which more is remarked is set closer still."""

LINE_LETTERS = 95
SETTINGS = ((38, None), (50, "tight"), (66, "tighter"))
"""Up to so many lines a sheet is set so; beyond the last, closer still."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

KINDS = {
    "snowmobile": "Snowmobile",
    "low_speed_vehicle": "Low-speed vehicle",
    "motor_vehicle": "Motor vehicle",
}

_APART = ("not applicable", "note", "exempt")
_CLASSES = {"not applicable": "na"}
_SAID = {"fail": "Failed", "open": "Not answered", "skipped": "Passed over", "unsure": "Unsure"}


def page(whole: dict[str, Any], *, words: str, digests: dict[str, str], name: str) -> bytes:
    """The page of a sheet; `words` are the signing key's, `digests` those of the files beside."""
    rows = whole["rows"]
    shown = [row for row in rows if row["state"] not in _APART]
    apart = [row for row in rows if row["state"] in _APART]
    kind = KINDS[whole["vehicle"]]
    title = f"Inspection of {whole['serial'] or 'a ' + kind.lower()}"
    style = resources.files("host_tools.inspection").joinpath("paper.css").read_text("utf-8")
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", title),
        el("style", Markup(style)),
    )
    body = el(
        "body",
        _header(whole, kind, rows),
        el("main", [_row(row) for row in shown]),
        _rest(apart),
        _footer(whole, words, digests, name),
        class_=_setting(shown),
    )
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n".encode()


def _setting(shown: list[dict[str, Any]]) -> str | None:
    """How close the sheet is set, so that it is one page whatever has to be said on it."""
    if len(shown) > DENSE_ROWS:
        checks = [one for row in shown for one in row.get("checks", [])]
        remarked = sum(one["state"] in _SAID or bool(_remark(one)) for one in checks)
        return "dense close" if remarked > CLOSE_REMARKS else "dense"
    lines = 0.0
    for row in shown:
        lines += 1.0 if row["state"] in _SAID else 0.0  # at the head, until there are six
        lines += 0.6 + sum(
            _lines(check) for check in row.get("checks", []) if not _is_unsaid(check)
        )
    return next((setting for most, setting in SETTINGS if lines <= most), "tightest")


def _lines(check: dict[str, Any]) -> int:
    said = len(_remark(check))
    return 1 + len(check["ask"]) // 90 + -(-said // LINE_LETTERS)


def _header(whole: dict[str, Any], kind: str, rows: list[dict[str, Any]]) -> Markup:
    verdict = whole["verdict"]
    judged = [row for row in rows if row["state"] not in _APART]
    good = sum(row["state"] == "pass" for row in judged)
    modes = ", ".join(mode.replace("_", " ") for mode in whole["modes"])
    facts: list[tuple[str, str]] = [
        ("Serial number", whole["serial"] or "not given"),
        ("Made", whole["made"] or "not given"),
        ("Inspected by", whole["inspector"] or "not given"),
        ("On", whole["at"].replace("T", " ").replace("Z", " UTC")),
    ]
    if modes:
        facts.append(("Self-declared", modes))
    return el(
        "header",
        el("div", el("p", "Inspection sheet", class_="kicker"), el("h1", kind)),
        el(
            "div",
            el("b", verdict),
            el("span", f"{good} of {len(judged)} paragraphs kept"),
            class_=f"stamp {verdict.replace(' ', '-')}",
        ),
        el("dl", [el("div", el("dt", name), el("dd", text)) for name, text in facts]),
        _said(verdict, judged),
    )


def _said(verdict: str, judged: list[dict[str, Any]]) -> Markup:
    """What keeps the sheet from passing, in a line each."""
    lines: list[Markup] = []
    for state, word in _SAID.items():
        for row in judged:
            if row["state"] == state:
                why = row.get("why", "")
                dot = ": " if why else ""
                lines.append(
                    el("p", el("b", f"{word}: {row['citation']} {row['title']}"), f"{dot}{why}")
                )
    if not lines:
        return Markup("")
    if len(lines) > 6:
        lines = [*lines[:5], el("p", f"and {len(lines) - 5} more, below.")]
    return el("div", lines, class_=f"said {verdict.replace(' ', '-')}", style="grid-column:1/-1")


def _row(row: dict[str, Any]) -> Markup:
    checks = [one for one in row.get("checks", []) if not _is_unsaid(one)]
    return el(
        "section",
        el("h2", row["title"], el("small", row["citation"])),
        el("ul", [_check(one) for one in checks]),
    )


def _is_unsaid(check: dict[str, Any]) -> bool:
    """Whether a check says nothing on the paper: it did not apply, and was never answered."""
    return check["state"] == "not applicable" and "answer" not in check


def _check(check: dict[str, Any]) -> Markup:
    state = check["state"]
    answer: list[Child] = [check.get("answer", "")]
    is_figure = isinstance(check.get("value"), int | float) and not isinstance(
        check.get("value"), bool
    )
    if is_figure and check.get("unit"):
        answer = [f"{check['answer']} {check['unit']}"]
    limit = check.get("limit", "")
    if is_figure or state in ("fail", "open"):
        answer += [
            " ",
            el("span", f"({limit})" if is_figure else f"must be {limit}", class_="limit"),
        ]
    if check.get("taken"):
        answer += [el("small", f" {check['taken']}")]
    why = _remark(check)
    return el(
        "li",
        el("span", check["ask"]),
        el("span", answer, class_="answer"),
        _mark(state),
        el("span", why, class_="why") if why else None,
    )


def _remark(check: dict[str, Any]) -> str:
    """What stands in small letters under a check: how it was measured, why it is open."""
    is_told = check["state"] in ("skipped", "unsure", "not applicable")
    parts = (check.get("by", ""), check.get("why", "") if is_told else "")
    return "; ".join(part for part in parts if part)


def _mark(state: str) -> Markup:
    word = {"not applicable": "n/a"}.get(state, state)
    return el("span", word, class_=f"mark m-{_CLASSES.get(state, state)}")


def _rest(rows: list[dict[str, Any]]) -> Markup:
    if not rows:
        return Markup("")
    lines = [
        el("p", el("b", f"{row['citation']} {row['title']}"), f": {_why_apart(row)}")
        for row in rows
    ]
    return el("div", el("h3", "Does not apply"), lines, class_="rest")


def _why_apart(row: dict[str, Any]) -> str:
    why = str(row.get("why", "")).rstrip(".")
    return f"{row['state']}: {why}" if row["state"] == "exempt" else why


def _footer(whole: dict[str, Any], words: str, digests: dict[str, str], name: str) -> Markup:
    files: list[Child] = []
    for file, digest in digests.items():
        files += [el("br") if files else "", f"{file}: SHA-256 ", el("code", digest[:32]), "..."]
    return el(
        "footer",
        el("div", el("span", "Inspector"), el("span", "Date"), class_="hand"),
        el(
            "div",
            el("p", "Signed by the key ", el("b", words), ". Prove it: ",
               el("code", f"sledwarden inspect --check {name}")),
            el("p", files),
            el("p", f"What was found on that day, by {whole['software']}; no certificate of the "
                    "state, and no legal advice."),
        ),
    )  # fmt: skip
