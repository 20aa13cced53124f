"""The rider's marks: asked for, kept over a restart, ended by the clock or by the date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from judging import HOME, NO_FIX, east_of, fix_of

from firmware.readings import Press, Request
from firmware.rider.marks import MOST, Asked, MarkError, Marks, as_argument, asked
from firmware.rider.requests import KEPT, Effect, Requests

UTC_NOW = datetime(2026, 1, 16, 5, 0, tzinfo=UTC)


def test_a_mark_is_asked_for_by_kind_place_end_and_id() -> None:
    assert asked("") == Asked("person")
    assert asked("shanty") == Asked("shanty")
    assert asked("shanty 45.88 -89.52") == Asked("shanty", (45.88, -89.52))
    assert asked("shanty 45.88 -89.52 until=2026-01-17T05:00:00Z id=a-1") == Asked(
        "shanty", (45.88, -89.52), datetime(2026, 1, 17, 5, 0, tzinfo=UTC), None, "a-1"
    )
    assert asked("person 45.88 -89.52 left=90").left_s == 90.0


@pytest.mark.parametrize(
    ("argument", "fault"),
    [
        ("dwelling", "dwelling: must be person or shanty"),
        ("shanty 45.88", "shanty 45.88: must be KIND, or KIND LAT LON"),
        ("shanty here there", "shanty here there: must be KIND"),
        ("shanty 95 -89.52", "95 -89.52: must be a place in degrees"),
        ("shanty nan -89.52", "nan -89.52: must be a place in degrees"),
        ("shanty 45 -89 until=soon", "shanty 45 -89 until=soon: must be KIND"),
        ("shanty 45 -89 until=2026-01-17", "until=2026-01-17: must be a date in UTC"),
        ("shanty 45 -89 left=0", "left=0: must be above 0 seconds"),
        ("shanty 45 -89 left=nan", "left=nan: must be above 0 seconds"),
        ("shanty 45 -89 id=../x", "id=../x: must be letters"),
        ("shanty 45 -89 by=me", "shanty 45 -89 by=me: must be KIND"),
        ("shanty 45 -89 left=1 left=2", "shanty 45 -89 left=1 left=2: must be KIND"),
    ],
)
def test_a_mark_that_can_t_be_set_is_told(argument: str, fault: str) -> None:
    with pytest.raises(MarkError) as told:
        asked(argument)
    assert str(told.value).startswith(fault)


def test_a_mark_asks_for_itself_again_after_a_restart() -> None:
    marks = Marks()
    dated = marks.put(Asked("shanty"), (45.88, -89.52), 100.0, UTC_NOW, "button")
    assert dated is not None
    line = as_argument(dated, 200.0)
    assert line == "shanty 45.8800000 -89.5200000 until=2026-01-19T05:00:00Z id=mark-100.0"
    again = Marks().put(asked(line), HOME, 5.0, UTC_NOW + timedelta(hours=10), KEPT)
    assert again is not None
    assert again.expires_s == 5.0 + 62 * 3600.0
    assert (again.lat_deg, again.lon_deg, again.id) == (45.88, -89.52, "mark-100.0")
    undated = marks.put(Asked("person"), HOME, 100.0, None, "button")
    assert undated is not None
    assert as_argument(undated, 340.0).endswith("left=360 id=mark-100.0")


def test_what_is_over_by_its_date_is_not_set_again() -> None:
    line = "shanty 45.88 -89.52 until=2026-01-16T04:59:59Z id=a"
    assert Marks().put(asked(line), HOME, 5.0, UTC_NOW, KEPT) is None


def test_without_a_date_a_kept_mark_stands_and_ends_by_the_date_once_there_is_one() -> None:
    marks = Marks()
    for line in (
        "shanty 45.88 -89.52 until=2026-01-16T06:00:00Z id=hour",
        "shanty 45.89 -89.52 until=2026-01-16T04:00:00Z id=over",
        "shanty 45.90 -89.52 left=7200 id=undated",
    ):
        marks.put(asked(line), HOME, 0.0, None, KEPT)
    assert [one.expires_s for one in marks.standing()] == [72 * 3600.0, 72 * 3600.0, 7200.0]
    assert marks.take_date(UTC_NOW, 60.0)
    assert [(one.id, one.expires_s) for one in marks.standing()] == [
        ("hour", 3660.0),
        ("undated", 7200.0),
    ]
    assert marks.standing()[1].until == UTC_NOW + timedelta(seconds=7140)
    assert not marks.take_date(UTC_NOW + timedelta(seconds=1), 61.0)  # nothing has moved


def test_a_foreign_date_keeps_no_mark_for_longer_than_its_kind_stands() -> None:
    line = "person 45.88 -89.52 until=2036-01-16T06:00:00Z"
    mark = Marks().put(asked(line), HOME, 0.0, UTC_NOW, "a friend")
    assert mark is not None
    assert mark.expires_s == 600.0


def test_the_same_thing_marked_again_is_one_mark_that_stands_anew() -> None:
    marks = Marks()
    marks.put(Asked("person"), HOME, 0.0, None, "button")
    marks.put(Asked("person"), east_of(15.0), 300.0, None, "button")
    assert [one.expires_s for one in marks.standing()] == [900.0]
    marks.put(Asked("person"), east_of(35.0), 300.1, None, "button")
    marks.put(Asked("shanty"), east_of(35.0), 300.2, None, "button")
    assert len(marks.standing()) == 3


def test_there_is_an_end_to_the_marks() -> None:
    marks = Marks()
    for number in range(MOST + 3):
        marks.put(Asked("shanty"), east_of(100.0 * number), float(number), None, "button")
    assert len(marks.standing()) == MOST
    assert marks.standing()[0].id == "mark-3.0"


def test_a_mark_is_taken_away_by_its_id() -> None:
    requests = Requests()
    requests.take(Press("hold"), 100.0, fix_of(0.0), True)
    unmark = Request("unmark", "mark-100.0", "page")
    assert requests.take(unmark, 110.0, NO_FIX, True) is Effect.JUDGE_AGAIN
    assert (requests.marks, requests.prompt) == (None, "PERSON\nMARK REMOVED")
    assert requests.take(unmark, 111.0, NO_FIX, True) is Effect.NOTHING
    assert requests.prompt == "NO SUCH MARK"


def test_a_kept_mark_needs_no_fix_and_shows_nothing() -> None:
    requests = Requests()
    kept = Request("mark", "shanty 45.88 -89.52 left=3600 id=a", KEPT)
    assert requests.take(kept, 0.0, NO_FIX, True) is Effect.JUDGE_AGAIN
    assert requests.prompt == ""
    sent = Request("mark", "shanty 45.89 -89.52", "zones marks")
    assert requests.take(sent, 1.0, NO_FIX, True) is Effect.JUDGE_AGAIN
    assert requests.prompt == "SHANTY\nMARKED"


def test_a_date_that_becomes_known_ends_a_kept_mark() -> None:
    requests = Requests()
    over = Request("mark", "shanty 45.88 -89.52 until=2026-01-16T04:00:00Z", KEPT)
    requests.take(over, 0.0, NO_FIX, True)
    assert requests.watch(NO_FIX, None, 10.0) is Effect.NOTHING
    assert requests.marks is not None
    assert requests.watch(NO_FIX, UTC_NOW, 20.0) is Effect.JUDGE_AGAIN
    assert requests.marks is None


def test_a_report_is_kept_and_silences_nothing() -> None:
    requests = Requests()
    report = Request("report", "house-7 it is a barn", "page")
    assert requests.take(report, 1.0, NO_FIX, False, UTC_NOW) is Effect.NOTHING
    assert requests.prompt == "REPORT KEPT\nIT STILL WARNS"
    (kept,) = requests.reports
    assert (kept.id, kept.why, kept.utc, kept.by) == ("house-7", "it is a barn", UTC_NOW, "page")
    requests.take(Request("report", "house-7", "page"), 2.0, NO_FIX, False, UTC_NOW)
    assert (requests.prompt, len(requests.reports)) == ("SAY WHAT IS\nWRONG, AND WHY", 1)
