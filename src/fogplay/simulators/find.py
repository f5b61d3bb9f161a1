"""``simulator_for``: the simulator of a game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.parts import part_of
from fogplay.simulators.hashed import HashedSimulator
from fogplay.simulators.interface import Simulator
from fogplay.simulators.rules import RulesSimulator
from fogplay.simulators.tree import TreeSimulator
from fogplay.trees import FlatGame, TooLargeError, flatten, named
from fogplay.trees.limits import BYTES_PER_INFOSET, available_memory

MOST_INFOSETS = 2**40
DEFAULT_INFOSETS = 12_500_000  # fits in 2^24 entries; fewer if half of the memory holds fewer
BYTES_PER_ENTRY = 48  # of the hash table, which has up to 8/3 entries of 16 bytes per infoset
BYTES_PER_ACTION = 24  # of the tables that Monte Carlo CFR fills
SPARE = 1.25  # slots per infoset, over the mean of random plays

Progress = Callable[[str, int, int], None]


def simulator_for(
    game: Any,
    progress: Progress | None = None,
    infosets: int | None = None,
    check: Callable[[Any], None] | None = None,
) -> Simulator:
    """The simulator of a game: its own, if ``simulators/<name>.py`` has one, else its tree, else its rules.

    ``infosets`` is the capacity of the tables if the game is played by its rules. ``check`` is called with the rules
    before anything is built, and may refuse them.
    """
    if isinstance(game, Simulator):
        return game if infosets is None else _with_room(game, infosets)
    if isinstance(game, FlatGame):
        return _numbered(TreeSimulator(game), infosets)
    rules, name = named(game)
    if check is not None:
        check(rules)
    own = own_simulator(rules, progress)
    if own is not None:
        return own if infosets is None else _with_room(own, infosets)
    try:
        flat = flatten(rules, name=name)
    except TooLargeError as why:
        return by_rules(rules, name, why.size, infosets)
    return _numbered(TreeSimulator(flat), infosets)


def by_rules(rules: Any, name: str, size: str, infosets: int | None = None) -> HashedSimulator:
    """A game too large for a tree, of this ``size`` in words, played by its own rules with infosets found by key."""
    inner = RulesSimulator(rules, name)
    inner.note = (
        f"{name} is too large for a tree ({size}): its Python rules are asked at every step, which allows "
        f"about {_two_digits(inner.episodes_per_second):,} plays per second"
    )
    return hashed(inner, infosets)


def hashed(inner: Simulator, infosets: int | None = None) -> HashedSimulator:
    """A game whose infosets have keys and no numbers, with tables for ``infosets`` infosets."""
    assert inner.mean_actions is not None
    per_infoset, free = SPARE * inner.mean_actions, available_memory()
    each = BYTES_PER_INFOSET + BYTES_PER_ENTRY + BYTES_PER_ACTION * per_infoset
    if infosets is None:
        infosets = max(1, min(DEFAULT_INFOSETS, int(free / 2 / each)))
    if isinstance(infosets, bool) or not isinstance(infosets, int) or not 1 <= infosets <= MOST_INFOSETS:
        raise FogplayError(f"infosets must be a whole number from 1 to {MOST_INFOSETS}, not {infosets!r}")
    if infosets * each > free:
        raise FogplayError(
            f"{infosets:,} infosets of {inner.name} take about {infosets * each / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free: ask for at most {int(free / each):,}"
        )
    return HashedSimulator(inner, infosets, int(per_infoset * infosets) + inner.widest)


def _with_room(simulator: Simulator, infosets: int) -> Simulator:
    """The same simulator with tables for ``infosets`` infosets, if it finds them by key."""
    if isinstance(simulator, HashedSimulator) and simulator.inner.mean_actions is not None:
        return hashed(simulator.inner, infosets)
    return _numbered(simulator, infosets)


def _numbered(simulator: Simulator, infosets: int | None) -> Simulator:
    if infosets is not None:
        raise FogplayError(f"{simulator.game} has numbered infosets and room for all of them: leave infosets out")
    return simulator


def _two_digits(number: float) -> int:
    return int(float(f"{number:.2g}"))


def own_simulator(rules: Any, progress: Progress | None = None) -> Simulator | None:
    """The simulator that comes with a registered game, if there is one and the game's parameters ask for it.

    ``progress`` is called with a title, the amount built and the total.
    """
    make = part_of(rules, "simulator")
    made: Simulator | None = make(rules, progress) if make is not None else None
    return made


def known_slots(rules: Any) -> int | None:
    """The slots of a registered game's own simulator, if it can count them without being built."""
    count = part_of(rules, "num_slots")
    slots: int | None = count(rules) if count is not None else None
    return slots


def prepare(rules: Any, progress: Progress | None = None) -> None:
    """Build the tables that players of a registered game need, if it has any that are not yet built."""
    build = part_of(rules, "prepare")
    if build is not None:
        build(rules, progress)
