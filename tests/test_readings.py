"""The words of the sources: absent is never zero, and each channel carries one type."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any, get_args

import pytest

from firmware import readings
from firmware.errors import ConfigError, LawError, SledwardenError
from firmware.findings import Verdict
from firmware.readings import VALUE_TYPES, Channel, Missing, Value, Why

NO_FIX = Missing(Why.NO_FIX)
REFUSAL = r"^a missing value \(no fix\) can't be compared or computed with$"


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_a_missing_value_is_neither_more_nor_less_than_a_limit(
    compare: Callable[[Any, Any], bool],
) -> None:
    for pair in ((NO_FIX, 55.0), (55.0, NO_FIX), (NO_FIX, NO_FIX)):
        with pytest.raises(TypeError, match=REFUSAL):
            compare(*pair)


@pytest.mark.parametrize(
    "compute",
    [operator.add, operator.sub, operator.mul, operator.truediv],
    ids=lambda one: one.__name__,
)
def test_a_missing_value_can_t_be_computed_with(compute: Callable[[Any, Any], Any]) -> None:
    for pair in ((NO_FIX, 2.0), (2.0, NO_FIX)):
        with pytest.raises(TypeError, match=REFUSAL):
            compute(*pair)


def test_a_missing_value_has_no_truth_and_is_no_number() -> None:
    with pytest.raises(TypeError, match=REFUSAL):
        bool(NO_FIX)
    with pytest.raises(TypeError, match=REFUSAL):
        float(NO_FIX)  # type: ignore[arg-type]  # that it is refused is what is tried
    for refused in (int, abs, round):
        with pytest.raises(TypeError):
            refused(NO_FIX)  # type: ignore[call-overload]  # that it is refused is what is tried


def test_max_and_min_and_sums_refuse_it_too() -> None:
    for of in (max, min, sum, sorted):
        with pytest.raises(TypeError, match=REFUSAL):
            of([NO_FIX, 1.0])  # type: ignore[operator,type-var]  # that it is refused is tried


def test_a_missing_value_equals_its_like_and_no_number() -> None:
    assert Missing(Why.STALE, "x") == Missing(Why.STALE, "x")
    assert Missing(Why.STALE) != NO_FIX
    assert NO_FIX != 0.0
    assert len({NO_FIX, Missing(Why.NO_FIX)}) == 1


@pytest.mark.parametrize("why", list(Why))
def test_a_missing_value_says_why(why: Why) -> None:
    assert str(Missing(why)) == str(why)
    assert str(Missing(why, "the wire is loose")) == f"{why}: the wire is loose"


def test_each_channel_carries_one_type_and_each_type_is_carried() -> None:
    assert set(VALUE_TYPES) == set(Channel)
    assert {*VALUE_TYPES.values(), Missing} == set(get_args(Value))


def test_what_was_said_can_t_be_changed() -> None:
    for kind in (*get_args(Value), readings.Reading, readings.Feature):
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen, kind  # type: ignore[union-attr]  # a dataclass
        assert "__slots__" in kind.__dict__, kind


def test_a_reading_lasts_until_the_next_unless_it_says_how_long() -> None:
    assert readings.Reading(Channel.FIX, NO_FIX, 1.0, "gps").fresh_s is None


# The other words.


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_unsure_and_violation_are_over(verdict: Verdict) -> None:
    assert verdict.is_over is (verdict in (Verdict.UNSURE, Verdict.VIOLATION))


def test_an_error_says_where_what_and_what_to_do() -> None:
    assert str(SledwardenError("ttyS0", "no receiver.")) == "ttyS0: no receiver."
    error = SledwardenError("ttyS0", "no receiver.", "Check the wire.")
    assert str(error) == "ttyS0: no receiver. Check the wire."


@pytest.mark.parametrize("kind", [ConfigError, LawError])
def test_every_fault_has_a_line_of_its_own_and_names_its_file(kind: type[ConfigError]) -> None:
    error = kind("a.toml", ["one is wrong.", "two is wrong."], "Put it right.")
    assert str(error) == "a.toml: one is wrong.\na.toml: two is wrong.\nPut it right."
    assert str(kind("a.toml", ["one is wrong."])) == "a.toml: one is wrong."
