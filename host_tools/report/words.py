"""Figures, dates and verdicts as a rider reads them."""

from __future__ import annotations

from datetime import datetime

from firmware.journal.proof import Verdict as Sealed
from firmware.law.packs import Clause
from host_tools.journals.ride import Exceedance, Leg, NotWatched, Ride
from host_tools.redacting import WHY as LEFT_OUT
from host_tools.report.markup import Markup, el

MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
NARROW = "\N{NO-BREAK SPACE}"

BADGES = {
    Sealed.WHOLE: ("Whole", "good", "Nothing was changed, nothing is missing."),
    Sealed.POWER_CUT: ("Power cut", "fair", "Nothing was changed; it ends as a power cut ends it."),
    Sealed.INCOMPLETE: ("Incomplete", "poor", "A part of the journal is missing."),
    Sealed.TAMPERED: ("Tampered", "bad", "This is not what the unit sealed: do not rely on it."),
    Sealed.UNREADABLE: ("Unreadable", "bad", "Not all of it can be read or checked."),
}


def duration(seconds: float) -> str:
    """A length of time in two units at most."""
    if seconds < 60:
        return f"{seconds:.0f}{NARROW}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}{NARROW}min {whole % 60:02}{NARROW}s"
    return f"{whole // 3600}{NARROW}h {whole % 3600 // 60:02}{NARROW}min"


def count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def day(local: datetime) -> str:
    return f"{local:%A, %B} {local.day}, {local.year}"


def short_day(local: datetime) -> str:
    return f"{local:%b} {local.day}, {local.year}".replace(" ", NARROW)


def clock(local: datetime | None, *, seconds: bool = True) -> str:
    """The time of day; a dash where there is no date."""
    if local is None:
        return "no date"
    return f"{local:%H:%M:%S}" if seconds else f"{local:%H:%M}"


def zone_of(leg: Leg, at_s: float) -> str:
    """The time zone's short name then, like CST."""
    local = leg.local(at_s)
    return "" if local is None else local.tzname() or ""


def figure(value: float | None, unit: str) -> str:
    """A value in its unit; a dash where there is none."""
    if value is None:
        return "\N{EN DASH}"
    digits = 1 if unit in ("mph", "km/h") else 0
    return f"{value:.{digits}f}{NARROW}{unit}"


def title_of(clauses: dict[str, Clause], citation: str) -> str:
    clause = clauses.get(citation)
    return clause.title if clause is not None else citation


def place(leg: Leg, fix: int | None) -> str:
    """Latitude and longitude to about a metre."""
    if fix is None:
        return "place not known"
    lat_deg, lon_deg = leg.track.lat_deg[fix], leg.track.lon_deg[fix]
    return (
        f"{abs(lat_deg):.5f}{NARROW}{'N' if lat_deg >= 0 else 'S'} "
        f"{abs(lon_deg):.5f}{NARROW}{'E' if lon_deg >= 0 else 'W'}"
    )


def headline(ride: Ride, exceedances: list[Exceedance]) -> str:
    """What was found, in a line."""
    if not ride.clauses:
        return "No law was in the journal, so nothing was judged."
    sure = sum(one.is_violation for one in exceedances)
    unsure = len(exceedances) - sure
    if sure and unsure:
        return f"{count(sure, 'violation')}, and {count(unsure, 'exceedance')} not sure."
    if sure:
        return f"{count(sure, 'violation')}."
    if unsure:
        return f"No violation, and {count(unsure, 'exceedance')} not sure."
    if any(one.what == LEFT_OUT for leg in ride.legs for one in leg.holes):
        return "Nothing was found against the rider in what is told; something was left out."
    shares = _blind_shares(ride)
    if shares and min(shares) > 0.95:
        return "Nothing can be said of this ride: it was not watched."
    if shares and max(shares) > 0.05:
        return "Nothing was found against the rider in what was watched."
    return "A clean ride: nothing was found against the rider."


def _blind_shares(ride: Ride) -> list[float]:
    """For each duty that is judged, the share of the time for which it was not watched."""
    clauses = dict.fromkeys(clause for leg in ride.legs for clause in leg.unknowns)
    return [
        sum(leg.unwatched_s(clause) for leg in ride.legs) / (ride.length_s or 1.0)
        for clause in clauses
    ]


def story(ride: Ride, exceedances: list[Exceedance]) -> Markup:
    """What was found, clause by clause."""
    clauses = ride.clauses
    groups: dict[str, list[Exceedance]] = {}
    for one in exceedances:
        groups.setdefault(one.event.clause, []).append(one)
    items = []
    for citation, group in groups.items():
        total_s = sum(one.duration_s for one in group)
        peaks = [one.event.peak for one in group if one.event.peak is not None]
        event = group[0].event
        said = f"{count(len(group), 'time')}, {duration(total_s)} in all"
        if peaks and event.unit in ("mph", "km/h"):
            said += f", up to {figure(max(peaks), event.unit)} where {event.limit:g} is the limit"
        items.append(
            el("li", el("b", title_of(clauses, citation)), " ", said, ". ",
               el("span", citation, class_="cite"))
        )  # fmt: skip
    return el("ul", items, class_="story") if items else Markup("")


def blind(ride: Ride) -> str:
    """The sentence on what was not watched that belongs beside every verdict."""
    longest: dict[str, float] = {}
    for leg in ride.legs:
        for one in leg.not_watched():
            longest[one.clause] = longest.get(one.clause, 0.0) + one.seconds
    if not ride.clauses:
        return ""
    if not longest:
        return "Every duty was watched all the time."
    clause, seconds = max(longest.items(), key=lambda one: one[1])
    if seconds < 1:
        return "Every duty was watched, but for less than a second."
    share = 100 * seconds / ride.length_s if ride.length_s else 100
    return (
        "Not everything was watched. Longest unwatched: "
        f"{title_of(ride.clauses, clause).lower()}, {duration(seconds)}, "
        f"{share:.0f}{NARROW}% of the time. The rest is below."
    )


def not_watched_words(one: NotWatched) -> str:
    """The reason, with how long it held."""
    lasted = duration(one.seconds) if one.seconds >= 1 else f"under 1{NARROW}s"
    return f"{one.why}: {lasted}" + (f", {one.times} times" if one.times > 1 else "")
