"""Hands played between strategies, the players changing seats after every hand."""

from __future__ import annotations

from fogplay.jit import kernel
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, player_of, slot_of, start
from fogplay.simulators.streams import draw


@kernel
def play(game, strategies, players, slots, first, rng, ends):
    """Play hands ``first``, ``first + 1``, ...; ``ends[hands]`` is filled with their terminal nodes, ``rng`` changes.

    ``strategies[players * slots]`` holds one strategy after the other; in hand h player (seat + h) mod players sits at
    a seat.
    """
    for hand in range(len(ends)):
        signals = deal(game, rng)
        node = start(game, signals, rng)
        while not is_terminal(game, node):
            who = (player_of(game, node) + first + hand) % players
            at = who * slots + slot_of(game, node, signals)
            choice = draw(strategies, at, num_actions(game, node), rng)
            node = advance(game, node, choice, signals, rng)
        ends[hand] = node
