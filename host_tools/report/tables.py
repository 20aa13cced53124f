"""The page's tables: exceedances, changes of verdict, what was not watched, what was sealed."""

from __future__ import annotations

from host_tools.journals.ride import Exceedance, Leg, NotWatched, Ride, Stood
from host_tools.journals.verifying import Proof, date_of, key_words, sentence
from host_tools.report import words
from host_tools.report.markup import Child, Markup, el, join
from host_tools.report.words import NARROW, PLUS_MINUS

SHOWN_EXCEEDANCES = 300
SHOWN_CHANGES = 500


def gravest(found: list[Exceedance]) -> list[Exceedance]:
    """What the page has room for: violations first, then sure ones, then the longest."""
    if len(found) <= SHOWN_EXCEEDANCES:
        return found
    ranks = sorted(
        range(len(found)),
        key=lambda n: (found[n].is_violation, found[n].event.is_sure, found[n].duration_s),
        reverse=True,
    )
    return [found[n] for n in sorted(ranks[:SHOWN_EXCEEDANCES])]


def _cell(label: str, *children: Child, class_: str | None = None) -> Markup:
    """A cell that says its column's name where the table is laid out as cards."""
    return el("td", el("div", *children), data_label=label, class_=class_)


def _head(*labels: str) -> Markup:
    return el("thead", el("tr", (el("th", one, scope="col") for one in labels)))


def exceedances(ride: Ride, found: list[Exceedance], in_all: int) -> Markup:
    """A row for each exceedance, with the id `row-N`; its number leads to the map.

    `in_all` is how many there were, where not all of them are here.
    """
    if not found:
        return el("p", "Nothing went over a limit or against a duty.", class_="none")
    rows = [_row(ride, number, one) for number, one in enumerate(found, start=1)]
    table = el(
        "table",
        _head("No.", "When", "The law", "Found", "Why", "Where", "Lasted", "Rider"),
        el("tbody", rows), class_="cards exceedances",
    )  # fmt: skip
    note = el(
        "p",
        "Unsure is over by no more than the error of measurement, or by a rule that may warn but "
        "not accuse. A violation is sure once it was held for 5 s.",
        class_="note",
    )
    left = None
    if in_all > len(found):
        said = (
            f"These are the {len(found)} gravest of {in_all:,}: violations first, then sure ones, "
            "then the longest. sledwarden export has them all."
        )
        left = el("p", said, class_="note")
    return join([left, note, table])


def _row(ride: Ride, number: int, one: Exceedance) -> Markup:
    event, leg = one.event, one.leg
    clause = ride.clauses.get(event.clause)
    local = leg.local(event.start_s)
    look = "violation" if one.is_violation else "unsure"
    verdict = "violation" if one.is_violation else "unsure"
    if one.fix is not None:
        label = str(number)
        badge = el("a", label, href=f"#map-{number}", class_="no", aria_label=f"{label} on the map")
    else:
        badge = el("span", str(number), class_="no")
    date = words.short_day(local) if local is not None else ""
    lasted = words.duration(one.duration_s)
    held = "sure" if event.is_sure else "not sure"
    if one.is_open:
        held += ": the journal ends first"
    return el(
        "tr",
        _cell("No.", badge, class_="num"),
        _cell("When", el("b", words.clock(local)), el("small", date), _later(leg, event.start_s)),
        _cell(
            "The law",
            el("b", words.title_of(ride.clauses, event.clause)),
            el("small", clause.plain if clause is not None else ""),
            el("small", event.clause, class_="cite"),
        ),
        _cell("Found", _found(one), el("small", verdict, class_=f"verdict {look}")),
        _cell("Why", one.finding.why if one.finding is not None else ""),
        _cell("Where", words.place(leg, one.fix), class_="place"),
        _cell("Lasted", el("b", lasted), el("small", held), class_="lasted"),
        _cell("Rider", *_told(one)),
        id=f"row-{number}", class_=look, data_n=str(number), tabindex="-1",
    )  # fmt: skip


def _later(leg: Leg, at_s: float) -> Markup | None:
    """The mark of an instant whose date came later; the words below the seals say the rest."""
    dated = leg.dated(at_s)
    if dated is None or not dated.is_redated:
        return None
    return el("small", "dated afterwards", class_="later")


def _found(one: Exceedance) -> Markup:
    event = one.event
    if event.peak is None:
        return Markup("")
    worst = el("b", words.figure(event.peak, event.unit))
    error = one.finding.error if one.finding is not None else None
    parts: list[Child] = [worst]
    if error is not None and error:
        parts.append(el("span", f"{NARROW}{PLUS_MINUS}{NARROW}{error:.1f}", class_="error"))
    if event.limit is not None:
        word = "limit" if event.unit in ("mph", "km/h") else "needs"
        parts.append(el("small", f"{word} {event.limit:g}{NARROW}{event.unit}"))
    return join(parts)


def _told(one: Exceedance) -> list[Child]:
    if one.warned_s is None:
        return ["no warning in the journal"]
    if one.warned_s < -0.1:
        said = "the warning stood already"
    elif one.warned_s < 0.1:
        said = "warned at once"
    else:
        said = f"warned after {one.warned_s:.1f}{NARROW}s"
    if one.acknowledged_s is None:
        return [said]
    return [said, el("small", f"acknowledged after {words.duration(one.acknowledged_s)}")]


def changes(ride: Ride, found: list[Stood]) -> Markup:
    """Every change of a verdict, folded away."""
    rows = []
    for one in found[:SHOWN_CHANGES]:
        finding = one.finding
        value = limit = ""
        if finding.value is not None and finding.limit is not None:
            value = words.figure(finding.value, finding.unit)
            limit = f"{finding.limit:g}{NARROW}{finding.unit}"
        rows.append(
            el(
                "tr",
                _cell("When", words.clock(one.leg.local(one.at_s)), _later(one.leg, one.at_s)),
                _cell("Duty", words.title_of(ride.clauses, finding.clause)),
                _cell("Verdict", str(finding.verdict), class_=f"verdict {finding.verdict}"),
                _cell("Value", value, class_="num"),
                _cell("Limit", limit, class_="num"),
                _cell("Why", finding.why),
            )
        )
    table = el(
        "table", _head("When", "Duty", "Verdict", "Value", "Limit", "Why"), el("tbody", rows),
        class_="plain",
    )  # fmt: skip
    summary = el("summary", f"Every change of a verdict ({len(found):,})")
    left = None
    if len(found) > SHOWN_CHANGES:
        said = f"The first {SHOWN_CHANGES} are here. sledwarden export has them all."
        left = el("p", said, class_="note")
    return el("details", summary, table, left)


def not_watched(ride: Ride) -> Markup:
    """What was not watched, why and for how long; and what is not in the journal."""
    rows = []
    whys: dict[str, list[NotWatched]] = {}
    for one in (one for leg in ride.legs for one in leg.not_watched()):
        whys.setdefault(one.clause, []).append(one)
    for clause, ones in sorted(whys.items(), key=lambda pair: -_total_s(pair[1])):
        total_s = _total_s(ones)
        share = 100 * total_s / ride.length_s if ride.length_s else 100.0
        rows.append(
            el(
                "tr",
                _cell(
                    "Duty",
                    el("b", words.title_of(ride.clauses, clause)),
                    el("small", clause, class_="cite"),
                ),
                _cell("Why not", (el("div", words.not_watched_words(one)) for one in ones[:8])),
                _cell("For", el("b", words.duration(total_s)), class_="num"),
                _cell("Of the ride", _share(share), class_="num"),
            )
        )
    for leg in ride.legs:
        for hole in leg.holes:
            length_s = hole.to_s - hole.from_s
            rows.append(
                el(
                    "tr",
                    _cell("Duty", el("b", "All of them")),
                    _cell("Why not", hole.what),
                    _cell("For", el("b", words.duration(length_s)), class_="num"),
                    _cell(
                        "Of the ride", _share(100 * length_s / (ride.length_s or 1)), class_="num"
                    ),
                )
            )
    if not rows:
        return el("p", "Every duty was watched all the time.", class_="none")
    return el(
        "table", _head("Duty", "Why not", "For", "Of the ride"), el("tbody", rows),
        class_="cards blind",
    )  # fmt: skip


def _total_s(ones: list[NotWatched]) -> float:
    return sum(one.seconds for one in ones)


def _share(percent: float) -> str:
    return f"{percent:.0f}{NARROW}%" if percent >= 1 else f"under 1{NARROW}%"


def proof(proofs: list[Proof]) -> Markup:
    """What the seals prove, segment by segment."""
    return join(_proof(one) for one in proofs)


def _proof(one: Proof) -> Markup:
    name, look, _ = words.BADGES[one.report.verdict]
    reasons = [
        el("li", f"{why.segment}, byte {why.offset:,}: {why.what}") for why in one.report.reasons
    ]
    rows = []
    for part in one.report.segments:
        later = one.redated.get(part.name)
        begin, end = date_of(part.from_ns), date_of(part.to_ns)
        if later is not None:
            begin, end = later.begin, later.end
        rows.append(
            el(
                "tr",
                _cell("Segment", part.name),
                _cell("Verdict", str(part.verdict)),
                _cell("Records", f"{part.records:,}", class_="num"),
                _cell(
                    "From",
                    "no date" if begin is None else f"{begin:%Y-%m-%d %H:%M:%S} UTC",
                    None if later is None else el("small", "dated afterwards", class_="later"),
                ),
                _cell("To", "no date" if end is None else f"{end:%Y-%m-%d %H:%M:%S} UTC"),
                class_="later" if later is not None else None,
            )
        )
    head = _head("Segment", "Verdict", "Records", "From", "To")
    return join(
        [
            el("p", el("span", name, class_=f"badge {look}"), " ", sentence(one)),
            el("p", key_words(one), class_="note"),
            el("ul", reasons, class_="reasons") if reasons else None,
            el(
                "details",
                el("summary", words.count(len(rows), "segment")),
                el("table", head, el("tbody", rows), class_="plain"),
            ),
        ]
    )
