from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings

from fogplay import FogplayError, load
from fogplay.games import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from fogplay.trees import flatten
from fogplay.trees.estimate import estimate_nodes
from fogplay.trees.limits import TooLargeError
from tests.random_games import RandomGame, random_games


@pytest.mark.parametrize(
    ("spec", "nodes", "infosets"),
    [
        ("kuhn", 58, 12),
        ("leduc", 9_457, 936),
        ("ocp(cards=50)", 1 + 50 + 50 * 49 * 9, 200),
        ("bluff(1,1,6)", 294_883, 24_576),
        ("rps", 13, 2),
    ],
)
def test_known_sizes(spec: str, nodes: int, infosets: int) -> None:
    flat = flatten(spec)
    assert (flat.num_nodes, flat.num_infosets) == (nodes, infosets)
    assert flat.recall_lost is None
    assert flat.nbytes <= 100 * flat.num_nodes


@given(random_games())
@settings(max_examples=60, deadline=None)
def test_layout_of_any_game(game: RandomGame) -> None:
    """Children after parents, siblings side by side, every node once, names and payoffs where the rules put them."""
    flat = flatten(game)
    tree = flat.tree
    seen = 0

    def walk(node: int, state: Any) -> None:
        nonlocal seen
        seen += 1
        player = state.current_player()
        assert tree.player[node] == player
        if player == TERMINAL:
            assert tree.payoffs[tree.row[node]].tolist() == state.returns()
            assert tree.num_children[node] == 0
            return
        if player == CHANCE:
            moves = state.chance_outcomes()
        else:
            infoset = int(tree.row[node])
            assert flat.infosets[infoset] == state.information_state_string(player)
            assert tree.infoset_player[infoset] == player
            moves = [(action, 1.0) for action in state.legal_actions()]
            assert list(flat.actions[flat.slots(infoset)]) == [str(action) for action, _ in moves]
        assert tree.num_children[node] == len(moves)
        assert tree.first_child[node] > node
        for number, (action, probability) in enumerate(moves):
            child = int(tree.first_child[node]) + number
            assert tree.probability[child] == probability
            walk(child, state.child(action))

    walk(0, game.new_initial_state())
    assert seen == flat.num_nodes
    assert flat.recall_lost is None


def test_infosets_come_player_by_player_and_parents_first() -> None:
    flat = flatten("leduc")
    assert (np.diff(flat.tree.infoset_player) >= 0).all()
    form = flat.sequences
    assert (form.point_parent < form.point_sequence).all()


def test_open_spiel_games_and_states_pass_as_they_are() -> None:
    game = pyspiel.load_game("leduc_poker")
    flat = flatten(game)
    assert (flat.num_nodes, flat.num_infosets, flat.name) == (9_457, 936, "pyspiel:leduc_poker()")
    state = game.new_initial_state().child(0)
    below = flatten(state)
    assert below.num_nodes < flat.num_nodes
    assert flatten("pyspiel:kuhn_poker").num_infosets == 12


def test_a_simultaneous_open_spiel_game_is_converted() -> None:
    game = pyspiel.load_game("matrix_rps")
    for each in (game, "pyspiel:matrix_rps", pyspiel.convert_to_turn_based(game)):
        flat = flatten(each)
        assert (flat.num_infosets, flat.name) == (2, "pyspiel:turn_based_simultaneous_game(game=matrix_rps())")
    assert flatten("pyspiel:goofspiel(num_cards=3,imp_info=True)").num_players == 2
    with pytest.raises(FogplayError, match="is a mean-field game"):
        flatten(pyspiel.load_game("mfg_garnet"))


class Broken(State):
    """Deal a coin, then each player chooses left or right; one thing at a time can be wrong."""

    __slots__ = ("fault", "history")

    def __init__(self, fault: str, history: tuple[int, ...] = ()) -> None:
        self.fault, self.history = fault, history

    def current_player(self) -> int:
        depth = len(self.history)
        if self.fault == "third player" and depth == 2:
            return 2
        if self.fault == "simultaneous" and depth == 1:
            return SIMULTANEOUS
        if self.fault == "odd player" and depth == 1:
            return -7
        if self.fault == "endless":
            return 0
        return (CHANCE, 0, 1, TERMINAL)[depth]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        probabilities = {"chance": (0.5, 0.4), "nan": (0.5, math.nan), "negative": (1.5, -0.5)}.get(
            self.fault, (0.5, 0.5)
        )
        return [] if self.fault == "no chance" else list(enumerate(probabilities))

    def legal_actions(self) -> list[int]:
        if self.fault == "stuck" and len(self.history) == 2:
            return []
        return [0, 1, 2] if self.fault == "actions" and self.history == (1, 0) else [0, 1]

    def child(self, action: int) -> Broken:
        return Broken(self.fault, (*self.history, action))

    def information_state_string(self, player: int) -> Any:
        if self.fault == "number":
            return 5
        if self.fault == "shared":
            return "same for both"
        if self.fault == "endless":
            return str(self.history)
        return f"{player}"

    def action_to_string(self, player: int, action: int) -> str:
        return ("heads", "tails")[action] if player == CHANCE else ("left", "right")[action]

    def returns(self) -> list[float]:
        if self.fault == "payoff" and self.history == (1, 0, 1):
            return [math.inf, 0.0]
        return [1.0] if self.fault == "short" else [1.0, -1.0]

    def num_players(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("chance", r"they sum to 0\.9; seen after: the start of the game"),
        ("nan", "they sum to nan"),
        ("negative", r"a probability of chance is negative: -0\.5; seen after"),
        ("no chance", "chance_outcomes.. is empty"),
        ("actions", r"infoset '1' has actions \[0, 1\] elsewhere and \[0, 1, 2\] here.*seen after: tails, left"),
        ("shared", "belongs to player 0 elsewhere and to player 1 here.*seen after: heads, left"),
        ("payoff", "not a finite number.*seen after: tails, left, right"),
        ("short", "returns.. has 1 numbers for 2 players; seen after: heads, left, left"),
        ("third player", "player 2 is to act, but players are numbered from 0 to 1: .*return 3"),
        ("odd player", "current_player.. is -7"),
        ("simultaneous", "simultaneously.*seen after: heads"),
        ("stuck", "player 1 is to act but has no legal action; seen after: heads, left"),
        ("number", "returned int, not text"),
    ],
)
def test_a_broken_game_is_named_with_the_history_that_shows_it(fault: str, message: str) -> None:
    with pytest.raises(FogplayError, match=message) as error:
        flatten(Broken(fault))
    assert "\n" not in str(error.value)


def test_limits_stop_cleanly() -> None:
    with pytest.raises(FogplayError, match=r"limit of 5,000 nodes after 5,000 nodes and [\d,]+ infosets"):
        flatten("leduc", node_limit=5_000)
    with pytest.raises(FogplayError, match=r"limit of 0\.0 GB after 40,960 nodes"):
        flatten("ocp(cards=100)", memory_limit=3_000_000)
    with pytest.raises(FogplayError, match=r"over 10\^\d+ nodes, over the limit of 3,000 nodes"):
        flatten(Broken("endless"), node_limit=3_000)
    with pytest.raises(FogplayError, match=r"over 10\^1\d nodes, over the limit of 100\.0 million nodes"):
        flatten("goofspiel(cards=13)")


def test_progress_is_reported_with_an_estimate() -> None:
    reports: list[tuple[int, int, int]] = []
    flat = flatten("ocp(cards=200)", progress=lambda *report: reports.append(report))
    assert len(reports) > 3
    assert reports[-1][:2] == (flat.num_nodes, flat.num_nodes)
    assert reports[0][1] == pytest.approx(flat.num_nodes, rel=0.1)
    assert reports[0][2] >= flat.nbytes


def test_the_estimate_is_close() -> None:
    assert abs(estimate_nodes(load("leduc").new_initial_state(), probes=2_000) / 9_457 - 1) < 0.1


class Quitting(Game):
    """Either player may give up at every turn, in two steps, or go on: random plays end soon, and the tree is huge."""

    def new_initial_state(self) -> Any:
        return Turn(0, False)


@dataclass(frozen=True)
class Turn(State):
    turn: int
    sure: bool  # whether the player is asked if it means to give up

    def current_player(self) -> int:
        return TERMINAL if self.turn in (-1, 60) else self.turn % 2

    def legal_actions(self) -> tuple[int, ...]:
        return (0,) if self.sure else tuple(range(12))

    def child(self, action: int) -> Turn:
        if self.sure:
            return Turn(-1, False)
        return Turn(self.turn + 1, False) if action > 9 else Turn(self.turn, True)

    def information_state_string(self, player: int) -> str:
        return f"{self.turn} {self.sure}"

    def returns(self) -> list[float]:
        return [1.0, -1.0]


def test_games_whose_random_plays_are_short_do_not_fool_the_estimate() -> None:
    """21 · 2^60 nodes; a random play makes about a move and a half."""
    for seed in range(20):
        assert estimate_nodes(Quitting().new_initial_state(), seed=seed) > 10**15
    with pytest.raises(TooLargeError, match=r"over 10\^1\d nodes, over the limit"):
        flatten(Quitting())


class Forever(Quitting):
    def new_initial_state(self) -> Any:
        return Circle(0, False)


class Circle(Turn):
    def legal_actions(self) -> tuple[int, ...]:
        return (0,)

    def child(self, action: int) -> Turn:
        return Circle((self.turn + 1) % 2, False)


def test_endless_histories_are_reported_at_once() -> None:
    with pytest.raises(TooLargeError, match=r"has histories of over 2,000 moves: too large for a tree"):
        flatten(Forever())


class Forgetful(Game):
    """Player 0 moves twice and forgets its first move."""

    name = "forgetful"

    def new_initial_state(self) -> ForgetfulState:
        return ForgetfulState(())


class ForgetfulState(State):
    __slots__ = ("history",)

    def __init__(self, history: tuple[int, ...]) -> None:
        self.history = history

    def current_player(self) -> int:
        return (0, 0, 1, TERMINAL)[len(self.history)]

    def legal_actions(self) -> tuple[int, ...]:
        return (0, 1)

    def child(self, action: int) -> ForgetfulState:
        return ForgetfulState((*self.history, action))

    def information_state_string(self, player: int) -> str:
        return f"{player}:{len(self.history)}"

    def returns(self) -> list[float]:
        first, second, third = self.history
        pays = 1.0 if (first + second + third) % 2 else -1.0
        return [pays * (1 + first), -pays * (1 + first)]


def test_imperfect_recall_is_allowed_and_named() -> None:
    flat = flatten(Forgetful())
    assert flat.recall_lost is not None
    assert "player 0 forgets its own moves at infoset '0:1', which it also reaches after: 1" in flat.recall_lost


@pytest.mark.parametrize("wrong", [5, None, object(), ["leduc"]])
def test_what_is_no_game_is_refused(wrong: Any) -> None:
    with pytest.raises(FogplayError, match="is not a game; pass the name of one"):
        flatten(wrong)
