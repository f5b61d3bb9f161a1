"""What belongs to one game in another folder, found by the game's name."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def part_of(rules: Any, part: str, package: str = "fogplay.simulators") -> Any:
    """What a game's own module in a package (``simulators/<name>.py``) calls ``part``, or None.

    Kinds of games that are not registered, such as rule sheets, have no name; they go by the name of their module.
    """
    name = getattr(rules, "name", type(rules).__module__.rpartition(".")[2])
    if not isinstance(name, str) or type(rules).__module__ != f"fogplay.games.{name}":
        return None
    module = f"{package}.{name}"
    if importlib.util.find_spec(module) is None:
        return None
    return getattr(importlib.import_module(module), part, None)
