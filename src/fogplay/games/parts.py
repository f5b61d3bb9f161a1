"""What belongs to one game in another folder, found by the game's name."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def part_of(rules: Any, part: str, package: str = "fogplay.simulators") -> Any:
    """What a registered game's own module in a package (``simulators/<name>.py``) calls ``part``, or None."""
    name = getattr(rules, "name", None)
    if not isinstance(name, str) or type(rules).__module__ != f"fogplay.games.{name}":
        return None
    module = f"{package}.{name}"
    if importlib.util.find_spec(module) is None:
        return None
    return getattr(importlib.import_module(module), part, None)
