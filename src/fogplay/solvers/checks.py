"""Parameters that make no sense are refused with the range that is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from fogplay.errors import FogplayError


def number(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float, if it is a finite number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise FogplayError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
    if not low <= value <= high:
        raise FogplayError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
    return float(value)


def whole(name: str, value: Any, low: int, high: int) -> int:
    """``value``, if it is a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise FogplayError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return value


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """``value``, if it is one of the words it may be."""
    if not isinstance(value, str) or value not in choices:
        raise FogplayError(f"{name} must be {' or '.join(choices)}, not {value!r}")
    return value
