"""What a role holds possible: lanes agree with the rules, state by state."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from fogplay import load
from fogplay.gdl.networked import NetworkMachine
from fogplay.search.sheet_beliefs import LaneBelief, Seen, history_of


def test_histories_are_read() -> None:
    assert history_of("alice: [jh] call[call] . (mark 1 2)[(card k) won]") == [
        Seen(None, ("jh",)),
        Seen("call", ("call",)),
        Seen(None, ()),
        Seen(("mark", "1", "2"), (("card", "k"), "won")),
    ]
    assert history_of("alice:") == []


def walked(name: str, seed: int) -> tuple[Any, Any, list[Any]]:
    """A random match: the game, its last state before the end, and the joint moves."""
    game, rng = load(name), np.random.default_rng(seed)
    machine, state, moves = game.machine, game.machine.initial(), []
    while True:
        legal = machine.legal(state)
        chosen = [options[int(rng.integers(len(options)))] for options in legal]
        after = machine.next(state, chosen)
        if machine.is_terminal(after):
            return game, state, moves
        state = after
        moves.append(chosen)


@pytest.mark.parametrize("name", ["kuhn.kif", "leduc.kif", "phantom-tictactoe.kif", "battleship.kif", "montyhall.kif"])
def test_lanes_keep_what_agrees(name: str) -> None:
    """Every state of the sample has a history that the role cannot tell from the real one, and equal keys."""
    for seed in range(3):
        game, _, moves = walked(name, seed)
        machine = game.machine
        assert isinstance(machine, NetworkMachine)
        role = game.players[-1]
        belief, state, told = LaneBelief(machine.twin(), role, seed), machine.initial(), []
        for made in moves:
            percepts = machine.percepts(state, made)[role]
            told.append((made[role], percepts))
            assert belief.see(made[role], percepts, time.monotonic() + 20)
            state = machine.next(state, made)
        assert len({int(key) for key in belief.now.keys[:, role]}) == 1
        for place in range(0, len(belief.now.states), max(1, len(belief.now.states) // 5)):
            other = machine.initial()
            for made, (own, percepts) in zip(belief.moves_to(place), told, strict=True):
                assert made[role] == own
                assert machine.percepts(other, made)[role] == percepts
                other = machine.next(other, made)
            assert belief.now.states[place].tobytes() == other


def test_samples_have_the_right_frequencies() -> None:
    """Bob holds the queen in Kuhn poker: alice has the jack as often as the king."""
    game = load("kuhn.kif")
    assert isinstance(game.machine, NetworkMachine)
    belief = LaneBelief(game.machine.twin(), game.players[1], 1)
    own = game.machine.legal(game.machine.initial())[game.players[1]][0]
    assert belief.see(own, ("queen",), time.monotonic() + 20)
    worlds = [game.machine.fluents(state.tobytes()) for state in belief.now.states]
    jacks = sum(("holds", "alice", "jack") in world for world in worlds)
    assert len(worlds) == 1024
    assert abs(jacks - 512) < 100  # six standard errors


def test_what_cannot_be_is_refused() -> None:
    game = load("kuhn.kif")
    assert isinstance(game.machine, NetworkMachine)
    belief = LaneBelief(game.machine.twin(), game.players[1], 1)
    own = game.machine.legal(game.machine.initial())[game.players[1]][0]
    for move, percepts in (("jump", ()), (own, ("ace",)), (own, ("queen", "king"))):
        assert not belief.see(move, percepts, time.monotonic() + 0.05)
    assert belief.history == []
    assert belief.see(own, ("queen",), time.monotonic() + 20)


def test_a_match_is_played_again_when_nothing_agrees() -> None:
    """A sample that lost the real state is made anew from the start."""
    game = load("kuhn.kif")
    assert isinstance(game.machine, NetworkMachine)
    belief = LaneBelief(game.machine.twin(), game.players[1], 1)
    own = game.machine.legal(game.machine.initial())[game.players[1]][0]
    assert belief.see(own, ("queen",), time.monotonic() + 20)
    belief.samples[-1].states[:] = 0  # no state of the game
    assert belief.see(own, ("bet",), time.monotonic() + 20)
    assert all(("holds", "bob", "queen") in game.machine.fluents(state.tobytes()) for state in belief.now.states[:20])
