"""The games that the tests of this folder run on: every registered game and preset, small, in one place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from fogplay.games import CHANCE, Game, State

# game or preset: its specs, each with the sum of the payoffs of all players (None: it varies)
SPECS: dict[str, dict[str, float | None]] = {
    "biased-rps": {"biased-rps": 100},
    "bluff": {"bluff(1,1,3)": 0, "bluff(2,1,2)": 0, "bluff(dice1=1,dice2=2,faces=3)": 0, "bluff": 0},
    "doudizhu": {"doudizhu": 0, "doudizhu(bidding=True,spring=True)": 0},
    "goofspiel": {
        "goofspiel": 0,
        "goofspiel(3,ascending,revealed,points)": 0,
        "goofspiel(cards=4,bids=revealed,payoff=percent)": 100,
        "goofspiel(2)": 0,
        "goofspiel(11)": 0,
    },
    "holdem": {
        "holdem": 0,
        "holdem(players=3)": 0,
        "holdem(grid=ehs-percentile:10/10/10/10)": 0,
        "holdem(grid=exact)": 0,
        "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])": 0,
        "holdem(rounds=1,ranks=4,suits=1,hole=1)": 0,
        "holdem(rounds=2,ranks=2,suits=3,board=[0,1],max_raises=[1,1])": 0,
        "holdem(rounds=2,ranks=4,suits=2,hole=2,board=[0,3],max_raises=[1,1])": 0,
        "holdem(rounds=3,ranks=3,suits=2,hole=1,board=[1,0,1],raises=[3,1,2],max_raises=[1,1,1],blinds=[2,2])": 0,
        "holdem(players=3,rounds=1,ranks=4,suits=1,hole=1)": 0,
        "holdem(players=3,rounds=2,ranks=2,suits=2,hole=1,board=[0,1],max_raises=[1,1])": 0,
    },
    "kuhn": {"kuhn": 0, "kuhn(players=3)": 0, "kuhn(pot=3)": 0},
    "leduc": {"leduc": 0, "leduc(suits=unseen)": 0, "leduc(players=3)": 0},
    "matrix": {
        "matrix": 100,
        "matrix([[1,-2.5,0],[0.125,1e-9,-3]])": 0,
        "matrix([[[1,2],[3,4]],[[5,6],[7,8]]])": None,
        "matrix([[[[1,2],[3,4]],[[5,6],[7,8]]],[[[1,2],[3,4]],[[5,6],[7,8]]],[[[0,2],[3,4]],[[5,6],[7,9]]]])": None,
    },
    "ocp": {"ocp(cards=5)": 0, "ocp(20)": 0},
    "pam": {"pam": 0, "pam(1,2,3)": 0, "pam(rows=1,columns=3,horizon=5)": 0, "pam(3,3,5)": 0},
    "repeated": {
        "repeated": 200,
        "repeated(kuhn,hands=2)": 0,
        "repeated(game=repeated(two-by-two,2),hands=2)": 400,
        "repeated(goofspiel(2,payoff=points),hands=3)": 0,
        "repeated(matrix([[[1,2],[3,4]],[[5,6],[7,8]]]),hands=1)": None,
    },
    "rps": {"rps": 100},
    "two-by-two": {"two-by-two": 100},
}

ALL_SPECS = [spec for specs in SPECS.values() for spec in specs]
SUMS = {spec: total for specs in SPECS.values() for spec, total in specs.items()}
NOT_WALKED = (
    "bluff", "doudizhu", "doudizhu(bidding=True,spring=True)",
    "goofspiel(11)", "leduc(players=3)", "holdem", "holdem(players=3)", "holdem(grid=exact)",
    "holdem(grid=ehs-percentile:10/10/10/10)",
)  # fmt: skip
FULLY_WALKED = [spec for spec in ALL_SPECS if spec not in NOT_WALKED]


def chosen(state: State, rng: random.Random) -> int:
    """An action of chance by its probability, an action of a player uniformly."""
    if state.current_player() == CHANCE:
        actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        return int(rng.choices(actions, probabilities)[0])
    return int(rng.choice(state.legal_actions()))


def playout(game: Game, rng: random.Random) -> list[State]:
    """The states of one random play, the last one terminal."""
    states = [game.new_initial_state()]
    while not states[-1].is_terminal():
        states.append(states[-1].child(chosen(states[-1], rng)))
    return states


def actions_of(state: Any) -> list[int]:
    """The actions of a state that is not terminal, chance's too."""
    return [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else list(state.legal_actions())


def every_state(game: Any) -> Iterator[Any]:
    """Every state of the game, parents first."""
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        yield state
        if not state.is_terminal():
            waiting.extend(state.child(action) for action in actions_of(state))


def play(game: Game, *actions: int | str) -> State:
    """The state after some actions, given by number or by name."""
    state = game.new_initial_state()
    for wanted in actions:
        names = {state.action_to_string(state.current_player(), each): each for each in actions_of(state)}
        action = names.get(wanted, -1) if isinstance(wanted, str) else wanted
        assert action in actions_of(state), f"{wanted} is not legal in {state}"
        state = state.child(action)
    return state


def infosets(game: Any) -> set[str]:
    return {
        state.information_state_string(state.current_player())
        for state in every_state(game)
        if state.current_player() >= 0
    }
