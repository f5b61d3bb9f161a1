"""The same trees as OpenSpiel: histories, actions, probabilities, payoffs and infosets."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pyspiel
import pytest

from fogplay.games import load

from .specs import every_state, infosets


def goofspiel(cards: int, order: str, hidden: bool, returns: str) -> Any:
    settings = {"num_cards": cards, "points_order": order, "imp_info": hidden, "returns_type": returns, "players": 2}
    return pyspiel.convert_to_turn_based(pyspiel.load_game("goofspiel", settings))


def liars_dice(dice: int, faces: int) -> Any:
    return pyspiel.load_game("liars_dice", {"numdice": dice, "dice_sides": faces})


def their_infoset(state: Any) -> Hashable:
    return (state.current_player(), state.information_state_string())


def with_finished_rounds(state: Any) -> Hashable:
    """OpenSpiel's revealed Goofspiel forgets in which order the cards were bid; we keep it, for perfect recall."""
    history = state.history()
    return (state.current_player(), tuple(history[: len(history) // 2 * 2]))


SAME_TREES: list[tuple[str, Any, float, Callable[[Any], Hashable]]] = [
    ("kuhn", pyspiel.load_game("kuhn_poker"), 1, their_infoset),
    ("kuhn(players=3)", pyspiel.load_game("kuhn_poker", {"players": 3}), 1, their_infoset),
    ("leduc", pyspiel.load_game("leduc_poker"), 1, their_infoset),
    ("bluff(1,1,3)", liars_dice(1, 3), 1, their_infoset),
    ("bluff(1,1,4)", liars_dice(1, 4), 1, their_infoset),
    *(
        (f"goofspiel({cards},{order},hidden)", goofspiel(cards, order, True, "win_loss"), 1, their_infoset)
        for cards in (3, 4)
        for order in ("descending", "ascending")
    ),
    *(
        (f"goofspiel({cards},{order},revealed)", goofspiel(cards, order, False, "win_loss"), 1, with_finished_rounds)
        for cards in (3, 4)
        for order in ("descending", "ascending")
    ),
    # their point difference is to the mean of the players' points: half of ours
    ("goofspiel(4,payoff=points)", goofspiel(4, "descending", True, "point_difference"), 2, their_infoset),
    (
        "goofspiel(4,ascending,revealed,points)",
        goofspiel(4, "ascending", False, "point_difference"),
        2,
        with_finished_rounds,
    ),
]


@pytest.mark.parametrize(("spec", "theirs", "scale", "key"), SAME_TREES, ids=[case[0] for case in SAME_TREES])
def test_same_tree(spec: str, theirs: Any, scale: float, key: Callable[[Any], Hashable]) -> None:
    """Walk both in step; infosets must correspond one to one."""
    forward: dict[str, Hashable] = {}
    backward: dict[Hashable, str] = {}
    waiting = [(load(spec).new_initial_state(), theirs.new_initial_state())]
    terminals = 0
    while waiting:
        mine, other = waiting.pop()
        player = mine.current_player()
        assert player == other.current_player()
        if player >= 0:
            infoset, same = mine.information_state_string(player), key(other)
            assert forward.setdefault(infoset, same) == same
            assert backward.setdefault(same, infoset) == infoset
            actions = list(mine.legal_actions())
            assert actions == other.legal_actions()
        elif mine.is_chance_node():
            actions = [action for action, _ in mine.chance_outcomes()]
            assert dict(mine.chance_outcomes()) == pytest.approx(dict(other.chance_outcomes()), abs=1e-12)
        else:
            terminals += 1
            assert list(mine.returns()) == [scale * payoff for payoff in other.returns()]
            continue
        waiting.extend((mine.child(action), other.child(action)) for action in actions)
    assert len(forward) == len(backward) == len(infosets(load(spec)))
    assert terminals == sum(state.is_terminal() for state in every_state(theirs))


def uniform_values(state: Any) -> list[float]:
    """Each player's expected payoff when every player chooses uniformly."""
    if state.is_terminal():
        return list(state.returns())
    if state.is_chance_node():
        outcomes = list(state.chance_outcomes())
    else:
        actions = state.legal_actions()
        outcomes = [(action, 1 / len(actions)) for action in actions]
    values = [(probability, uniform_values(state.child(action))) for action, probability in outcomes]
    players = range(len(values[0][1]))
    return [sum(probability * value[player] for probability, value in values) for player in players]


@pytest.mark.parametrize(("spec", "theirs"), [(spec, theirs) for spec, theirs, scale, _ in SAME_TREES if scale == 1])
def test_same_value_of_uniform_play(spec: str, theirs: Any) -> None:
    mine = uniform_values(load(spec).new_initial_state())
    assert mine == pytest.approx(uniform_values(theirs.new_initial_state()), abs=1e-12)


def test_bluff_with_two_dice_each() -> None:
    """OpenSpiel rolls die by die and then sorts, so its plays are counted by what they look like at the end."""
    mine, theirs = load("bluff(2,2,2)"), liars_dice(2, 2)
    assert len(infosets(mine)) == len(infosets(theirs))
    assert uniform_values(mine.new_initial_state()) == pytest.approx(
        uniform_values(theirs.new_initial_state()), abs=1e-12
    )
    ends = [state for state in every_state(mine) if state.is_terminal()]
    their_ends = {str(state) for state in every_state(theirs) if state.is_terminal()}
    assert len(ends) == len(their_ends)


def test_openspiel_merges_infosets_of_revealed_goofspiel() -> None:
    """The one difference: 270 infosets there without the order of the bids, 322 here with it."""
    assert len(infosets(goofspiel(4, "descending", False, "win_loss"))) == 270
    assert len(infosets(load("goofspiel(4,bids=revealed)"))) == 322
    assert len(infosets(goofspiel(3, "descending", False, "win_loss"))) == 20
    assert len(infosets(load("goofspiel(3,bids=revealed)"))) == 20
