"""Refuse parameters that make no sense, with the range that is allowed."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from fogplay.errors import FogplayError

MOST_HANDS = 10**12
MOST_SEED = 2**63 - 1


def number(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float, if it is a number from ``low`` to ``high``."""
    try:
        given = float(value) if not isinstance(value, bool | str) else None
    except (TypeError, ValueError, OverflowError):
        given = None
    if given is None or not low <= given <= high:  # NaN is in no range
        raise FogplayError(f"{name} must be a number from {low:g} to {high:g}, not {_short(value)}")
    return given


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """``value`` as an int, if it is a whole number from ``low`` on, and at most ``high``."""
    try:
        given = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        given = None
    if given is None or given < low or (high is not None and given > high):
        most = "" if high is None else f" to {high:,}" if high >= 10**6 else f" to {high}"
        raise FogplayError(f"{name} must be a whole number from {low}{most}, not {_short(value)}")
    return given


def seed(value: Any) -> int:
    """The seed of random numbers."""
    return whole("seed", value, 0, MOST_SEED)


def hands(value: Any, most: int = MOST_HANDS) -> int:
    """The length of a match."""
    return whole("hands", value, 1, most)


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """``value``, if it is one of the words it may be."""
    if not isinstance(value, str) or value not in choices:
        raise FogplayError(f"{name} must be {' or '.join(choices)}, not {_short(value)}")
    return value


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."
