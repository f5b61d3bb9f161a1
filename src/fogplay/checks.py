"""Parameters that make no sense are refused with the range that is allowed."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from fogplay.errors import FogplayError


def number(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float, if it is a number from ``low`` to ``high``."""
    try:
        given = float(value) if not isinstance(value, bool | str) else None
    except (TypeError, ValueError, OverflowError):
        given = None
    if given is None or not low <= given <= high:  # NaN is in no range
        raise FogplayError(f"{name} must be a number from {low:g} to {high:g}, not {_short(value)}")
    return given


def whole(name: str, value: Any, low: int, high: int) -> int:
    """``value`` as an int, if it is a whole number from ``low`` to ``high``."""
    try:
        given = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        given = None
    if given is None or not low <= given <= high:
        raise FogplayError(f"{name} must be a whole number from {low} to {_grouped(high)}, not {_short(value)}")
    return given


def seed_of(value: Any) -> int:
    """``value``, if it can seed random numbers."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FogplayError(f"seed must be a whole number from 0, not {_short(value)}")
    return value


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """``value``, if it is one of the words it may be."""
    if not isinstance(value, str) or value not in choices:
        raise FogplayError(f"{name} must be {' or '.join(choices)}, not {_short(value)}")
    return value


def _grouped(value: int) -> str:
    return str(value) if value < 100_000 else f"{value:,}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."
