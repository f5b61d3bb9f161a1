"""A sheet with the same meaning and fewer ground instances: what the second attempt at grounding reads."""

from __future__ import annotations

from dataclasses import replace

from fogplay.gdl.demand import on_demand
from fogplay.gdl.dependencies import Dependencies
from fogplay.gdl.domains import restricted
from fogplay.gdl.grounding import WANTED
from fogplay.gdl.sheet import Sheet
from fogplay.gdl.unfolding import cases_apart


def narrowed(sheet: Sheet) -> Sheet:
    """The rules that matter to play, in cases, for the constants that may occur, and on demand."""
    needed = sheet.dependencies.needed_for(WANTED)
    rules = cases_apart([rule for rule in sheet.rules if rule.relation in needed])
    rules = restricted(rules)
    return on_demand(replace(sheet, rules=tuple(rules), dependencies=Dependencies(rules)))
