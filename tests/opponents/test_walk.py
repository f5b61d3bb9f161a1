"""Hands found in the tree, against plays walked state by state; endings written as histories."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.opponents.histories import Hand, Histories, parse, to_text
from fogplay.opponents.walk import Moves, complete, parents, record
from fogplay.trees import FlatGame, flatten
from tests.opponents import naive

SPECS = ["kuhn", "kuhn(players=3)", "ocp(cards=5)", "leduc", "bluff(2,1,2)", "goofspiel(3)", "pam", "repeated(kuhn,2)"]


def histories_of(hands: Sequence[Hand]) -> Histories:
    different = list(dict.fromkeys(hands))
    return Histories(tuple(different), np.array([different.index(hand) for hand in hands]))


@pytest.mark.parametrize("spec", SPECS)
def test_completions_are_those_of_the_twin(spec: str) -> None:
    flat, game = flatten(spec), fp.load(spec)
    plays = list(naive.every_play(game))
    moves, rng = Moves(flat), random.Random(spec)
    by_history = {}
    for node in np.flatnonzero(flat.tree.num_children == 0).tolist():
        by_history[tuple(moves.walk_to(node)[1])] = node
    assert len(by_history) == len(plays)
    names = tuple("abc"[: flat.num_players])
    hands = []
    for play in rng.sample(plays, 12):
        hidden = [
            "?" if by_chance and rng.random() < 0.6 else move
            for move, by_chance in zip(play.moves, play.by_chance, strict=True)
        ]
        hands.append(Hand(names, tuple(hidden)))
    histories = histories_of(hands)
    found = complete(flat, histories)
    for number, hand in enumerate(histories.hands):
        here = slice(found.start[number], found.start[number + 1])
        got = dict(zip(found.node[here].tolist(), found.chance[here].tolist(), strict=True))
        expected = {by_history[play.moves]: play.chance for play in naive.completions(plays, hand.moves)}
        assert got == pytest.approx(expected)


@pytest.mark.parametrize("spec", SPECS)
def test_endings_written_and_read_again(spec: str) -> None:
    flat = flatten(spec)
    ends = np.random.default_rng(1).choice(np.flatnonzero(flat.tree.num_children == 0), 50).astype(np.int32)
    names = ["ann", "bob", "eve"][: flat.num_players]
    histories = record(flat, ends, names)
    again = parse(to_text(histories))
    found = complete(flat, again)
    assert found.node[again.order].tolist() == ends.tolist()
    for hand, number in enumerate(again.order.tolist()):
        shift = hand % len(names)
        assert again.hands[number].names == tuple(names[shift:] + names[:shift])
        assert ", ".join(again.hands[number].moves) == flat.history(int(ends[hand]))


def test_parents() -> None:
    flat = flatten("leduc")
    parent = parents(flat)
    assert parent[0] == -1
    for node in range(1, flat.num_nodes, 97):
        first = flat.tree.first_child[parent[node]]
        assert first <= node < first + flat.tree.num_children[parent[node]]


def seen_by(flat: FlatGame, history: str, who: str, hand: int = 0) -> str:
    """A hand as a player sees it; it is hand number ``hand`` of a match."""
    found = complete(flat, parse(history))
    names = history.partition(":")[0].split("|")
    shifted = names[-hand:] + names[:-hand] if hand else names
    ends = np.repeat(found.node[:1], hand + 1)
    told = record(flat, ends, shifted, who)
    return str(told.hands[told.order[hand]])


@pytest.mark.parametrize(
    ("spec", "history", "who", "told"),
    [
        ("kuhn", "a|b: deal K; deal Q; bet; pass", "a", "a|b: deal K; ?; bet; pass"),
        ("kuhn", "a|b: deal K; deal Q; bet; pass", "b", "a|b: ?; deal Q; bet; pass"),
        ("kuhn", "a|b: deal K; deal Q; bet; bet", "b", "a|b: deal K; deal Q; bet; bet"),
        ("kuhn", "a|b: deal K; deal Q; pass; pass", "b", "a|b: deal K; deal Q; pass; pass"),
        (
            "kuhn(players=3)",
            "a|b|c: deal 4; deal 2; deal 1; pass; bet; bet; pass",
            "a",
            "a|b|c: deal 4; deal 2; deal 1; pass; bet; bet; pass",
        ),
        (
            "kuhn(players=3)",
            "a|b|c: deal 4; deal 2; deal 1; pass; bet; bet; pass",
            "b",
            "a|b|c: ?; deal 2; deal 1; pass; bet; bet; pass",
        ),
        (
            "kuhn(players=3)",
            "a|b|c: deal 4; deal 2; deal 1; pass; bet; pass; pass",
            "c",
            "a|b|c: ?; ?; deal 1; pass; bet; pass; pass",
        ),
        (
            "leduc",
            "a|b: deal Js; deal Qh; call; call; deal Qs; call; raise; fold",
            "a",
            "a|b: deal Js; ?; call; call; deal Qs; call; raise; fold",
        ),
        (
            "leduc",
            "a|b: deal Js; deal Qh; call; call; deal Qs; call; raise; call",
            "a",
            "a|b: deal Js; deal Qh; call; call; deal Qs; call; raise; call",
        ),
    ],
)
@pytest.mark.parametrize("hand", [0, 1])
def test_what_a_player_sees(spec: str, history: str, who: str, told: str, hand: int) -> None:
    assert seen_by(flatten(spec), history, who, hand) == told


def test_nobody_of_that_name() -> None:
    with pytest.raises(FogplayError, match="no player is called 'eve'; choose one of a, b"):
        record(flatten("kuhn"), np.zeros(1, np.int32), ["a", "b"], "eve")


class Toss(fp.State):
    """Chance, then a guess; the names are what a test puts in."""

    def __init__(self, chance: Sequence[str], own: Sequence[str], history: tuple[int, ...] = ()) -> None:
        self.chance, self.own, self.history = chance, own, history

    def num_players(self) -> int:
        return 1

    def current_player(self) -> int:
        return (fp.CHANCE, 0, fp.TERMINAL)[len(self.history)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def legal_actions(self) -> Any:
        return (0, 1)

    def child(self, action: int) -> Toss:
        return Toss(self.chance, self.own, (*self.history, action))

    def information_state_string(self, player: int) -> str:
        return "me"

    def action_to_string(self, player: int, action: int) -> str:
        return (self.chance if player == fp.CHANCE else self.own)[action]

    def unseen(self, player: int) -> list[int]:
        return [int(self.chance[0] == "betrays")]

    def returns(self) -> list[float]:
        return [1.0]


def test_names_that_do_not_tell_moves_apart_are_refused() -> None:
    text = parse("me: heads; left")
    assert complete(flatten(Toss(["heads", "tails"], ["left", "right"])), text).chance.tolist() == [0.25]
    with pytest.raises(FogplayError, match="two outcomes of chance after the start of the game have the same name"):
        complete(flatten(Toss(["heads", "heads"], ["left", "right"])), text)
    with pytest.raises(FogplayError, match="two actions at infoset 'me' are both called 'left'"):
        complete(flatten(Toss(["heads", "tails"], ["left", "left"])), text)
    ends = np.array([3], np.int32)
    with pytest.raises(FogplayError, match=r"has a move called '\?'"):
        record(flatten(Toss(["?", "tails"], ["left", "right"])), ends, ["me"])
    with pytest.raises(FogplayError, match="the move 'a; b' cannot be in a history"):
        to_text(record(flatten(Toss(["heads", "a; b"], ["left", "right"])), np.array([5], np.int32), ["me"]))
    with pytest.raises(FogplayError, match=r"unseen\(0\) must return moves of chance, but returned \[1\]"):
        record(flatten(Toss(["betrays", "tails"], ["left", "right"])), ends, ["me"], "me")
