"""Records that are made quickly are the frozen dataclasses that they were."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from firmware.quick import quick


@dataclass(frozen=True, slots=True)
class Plain:
    clause: str
    value: float | None = None
    unit: str = "mph"


Quick = quick(
    dataclass(frozen=True, slots=True)(
        type(
            "Plain",
            (),
            {"__annotations__": dict(Plain.__annotations__), "value": None, "unit": "mph"},
        )
    )
)


def test_it_is_made_shown_changed_and_compared_as_before() -> None:
    for arguments, named in ((("a",), {}), (("a", 1.0), {"unit": "ft"}), ((), {"clause": "b"})):
        assert repr(Quick(*arguments, **named)) == repr(Plain(*arguments, **named))
    one = Quick("a", 2.0)
    assert replace(one, value=3.0) == Quick("a", 3.0) != one
    assert hash(one) == hash(Plain("a", 2.0))


def test_it_stays_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Quick("a").value = 1.0


def test_what_a_plain_one_refuses_is_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'clause'"):
        Quick()
    with pytest.raises(TypeError, match="unexpected keyword argument 'values'"):
        Quick("a", values=1.0)


def test_a_class_that_would_not_be_whole_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class WithFactory:
        seen: list[str] = field(default_factory=list)

    @dataclass(frozen=True, slots=True)
    class WithMore:
        value: float

        def __post_init__(self) -> None:
            raise AssertionError

    @dataclass(frozen=True)
    class WithoutSlots:
        value: float

    with pytest.raises(TypeError, match=r"WithFactory\.seen: must be given, or have a default"):
        quick(WithFactory)
    for record in (WithMore, WithoutSlots):
        with pytest.raises(TypeError, match="must be a dataclass with slots"):
            quick(record)
