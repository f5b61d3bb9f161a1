"""Parameters of a rule sheet: whole numbers that the name of a game may change, as in ``rules.kif(cards=7)``.

A sheet declares one by the fact ``(parameter NAME VALUE LOWEST HIGHEST)`` and uses it like any other relation.
"""

from __future__ import annotations

import re

from fogplay.checks import whole
from fogplay.errors import FogplayError

_FACT = re.compile(r"^(\s*\(\s*parameter\s+([^\s();]+)\s+)(\d+)(\s+(\d+)\s+(\d+)\s*\))", re.IGNORECASE | re.MULTILINE)
_SPEC = re.compile(r"(.*)\(([^()]*)\)\s*$", re.DOTALL)


def split_spec(spec: str) -> tuple[str, list[str]]:
    """The file of a spec and the settings in its brackets, as text."""
    found = _SPEC.match(spec)
    return (found[1].strip(), [each.strip() for each in found[2].split(",")]) if found else (spec, [])


def with_settings(text: str, settings: list[str], name: str) -> str:
    """The text of a sheet with other values of its parameters; settings are values in order, or ``NAME=VALUE``."""
    facts = {found[2].lower(): found for found in _FACT.finditer(text)}
    chosen: dict[str, int] = {}
    for place, setting in enumerate(settings):
        key, equals, value = (each.strip() for each in setting.partition("="))
        if not equals:
            if place >= len(facts):
                raise FogplayError(f"{name} takes at most {len(facts)} parameters ({', '.join(facts) or 'none'})")
            key, value = [*facts][place], setting
        if key.lower() not in facts:
            raise FogplayError(f"{name} has no parameter {key!r}; it has {', '.join(facts) or 'none'}")
        if key.lower() in chosen:
            raise FogplayError(f"{name}: {key} is given twice")
        fact = facts[key.lower()]
        number = int(value) if value.isdecimal() and len(value) < 10 else value
        whole(f"{name}: {key}", number, int(fact[5]), int(fact[6]))
        chosen[key.lower()] = int(value)
    return _FACT.sub(lambda found: f"{found[1]}{chosen.get(found[2].lower(), found[3])}{found[4]}", text)
