"""``resolve``: agents from the text that a user types.

An agent is a saved strategy's file, ``uniform``, a bot of the game (``bots/<game>.py``), an executable file, or a kind
and its settings, such as ``search:smooth-uct:2000`` or ``program:python3 bot.py``. A bots module has ``BOTS`` (by
name), ``names(rules)`` (the bots that can play these rules) and ``bots(wanted, rules, company)`` (the agents by name);
with ``accepts(text, rules)`` it may take names with settings after a colon.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import fogplay.bots
from fogplay import strategies
from fogplay.errors import FogplayError, did_you_mean
from fogplay.games.game import spec_of
from fogplay.notation.acpc import plain_name
from fogplay.play import Agent, Uniform
from fogplay.simulators import part_of

UNIFORM, PROGRAM = "uniform", "program"
BOTS = "fogplay.bots"

Maker = Callable[[str, Any], Agent]  # from the text after the prefix and the rules
# Kinds by prefix. Text names a module that has ``agent(settings, rules)``, which is imported when it is needed.
_KINDS: dict[str, Maker | str] = {"search": "fogplay.search", PROGRAM: "fogplay.protocols.lines"}


def register_kind(prefix: str, maker: Maker) -> None:
    """Make ``prefix:settings`` an agent: ``maker(settings, rules)`` returns it, or refuses with a FogplayError."""
    _KINDS[prefix] = maker


def resolve(texts: Sequence[str], rules: Any) -> list[Any]:
    """An agent for each text; a repeated file or bot gives the same agent, but each search has its own memory."""
    require_known(texts, rules)
    own = bot_names(rules)
    found: dict[str, Any] = {}
    for text in texts:
        if not _is_bot(text, own, rules) and text not in found and _kind(text) is None:
            found[text] = _without_bots(text, rules)
    wanted = [text for text in dict.fromkeys(texts) if _is_bot(text, own, rules)]
    if wanted:
        found |= part_of(rules, "bots", BOTS)(wanted, rules, tuple(found.values()))
    return [found[text] if text in found else _without_bots(text, rules) for text in texts]


def require_known(texts: Sequence[str], rules: Any) -> None:
    """Refuse texts that are not agents, before any slow step."""
    for text in texts:
        if not _is_bot(text, known_names(rules), rules) and _kind(text) is None and not Path(text).exists():
            raise FogplayError(_unknown(text, rules))


def known_names(rules: Any) -> tuple[str, ...]:
    """The agents that are known by name, without a file."""
    return tuple(dict.fromkeys((*bot_names(rules), UNIFORM)))


def bot_names(rules: Any) -> tuple[str, ...]:
    """The bots that can play these rules."""
    names = part_of(rules, "names", BOTS)
    return tuple(names(rules)) if names is not None else ()


def _is_bot(text: str, names: Collection[str], rules: Any) -> bool:
    """Whether a text is one of these names, or a bot of the game with its settings after a colon."""
    accepts = part_of(rules, "accepts", BOTS)
    return text in names or (accepts is not None and bool(accepts(text, rules)))


def names_of(agents: Sequence[str], words: Collection[str] = ()) -> list[str]:
    """A unique name per agent: a file's name without its extension and without characters that a log cannot hold."""
    names: list[str] = []
    for agent in agents:
        stem = agent if agent in words or (_kind(agent) is not None and not _is_program(agent)) else Path(agent).stem
        plain = plain_name(stem)
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def _without_bots(text: str, rules: Any) -> Any:
    if text == UNIFORM:
        return Uniform()
    kind = _kind(text)
    if kind is not None:
        return _maker(kind)(shlex.quote(text) if _is_program(text) else text.partition(":")[2], rules)
    try:
        strategy = strategies.load(text)
        strategy.require_game(rules)
    except FogplayError as error:
        raise FogplayError(f"{text}: {error}" if text not in str(error) else str(error)) from error
    return strategy


def _kind(text: str) -> str | None:
    """The kind that a text begins with, if it is a known one; an executable file is a program."""
    if _is_program(text):
        return PROGRAM
    prefix, colon, _ = text.partition(":")
    if not colon or prefix not in _KINDS:
        return None
    made = _KINDS[prefix]
    return prefix if not isinstance(made, str) or importlib.util.find_spec(made) is not None else None


def _is_program(text: str) -> bool:
    """Whether a text is the path of an executable file that is not a saved strategy."""
    path = Path(text)
    return path.is_file() and os.access(path, os.X_OK) and path.suffix != ".safetensors"


def _maker(kind: str) -> Maker:
    made = _KINDS[kind]
    if isinstance(made, str):
        found: Maker = importlib.import_module(made).agent
        return found
    return made


def _unknown(text: str, rules: Any) -> str:
    """The error message for a text that is not an agent of this game."""
    known = known_names(rules)
    prefixes = [f"{prefix}:" for prefix in _KINDS if _kind(f"{prefix}:") is not None]
    others = {name: game for game, names in _all_bots().items() for name in names}
    wanted = f"an agent is a saved strategy or {_listed([*known, *(f'{prefix}…' for prefix in prefixes)])}"
    if text in others:
        return f"the bot {text} plays {others[text]}, not {spec_of(rules)}; {wanted}"
    prefix, colon, _ = text.partition(":")
    if colon and not Path(text).suffix:
        return f"there is no kind of agent {prefix!r}; {did_you_mean(f'{prefix}:', prefixes)}{wanted}"
    return f"there is no file {text}; {did_you_mean(text, known)}{wanted}"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _all_bots() -> dict[str, tuple[str, ...]]:
    """The names of all bots by game."""
    games = [info.name for info in pkgutil.iter_modules(fogplay.bots.__path__)]
    return {game: tuple(importlib.import_module(f"{BOTS}.{game}").BOTS) for game in games}
