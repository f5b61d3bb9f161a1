"""Random small games of perfect recall, for properties that must hold on any game."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import strategies as st

from fogplay.games import CHANCE, TERMINAL, Game, State


@dataclass(frozen=True)
class RandomGame(Game):
    """A game drawn from a seed: who moves at each depth, who sees which move, where it ends early, what it pays.

    The actor always sees its own move; another player sees all of it, half of it, or nothing.
    """

    name = "random"
    seed: int = 0
    players: int = 2
    depth: int = 4
    zero_sum: bool = True
    plan: tuple[tuple[int, int, tuple[int, ...], int], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        plan = []
        for _ in range(self.depth):
            mover = rng.choice([CHANCE, *range(self.players), *range(self.players)])
            sights = tuple(rng.randrange(3) for _ in range(self.players))
            plan.append((mover, rng.choice([1, 2, 2, 2, 3]), sights, rng.randrange(12)))
        object.__setattr__(self, "plan", tuple(plan))

    def num_players(self) -> int:
        return self.players

    def new_initial_state(self) -> RandomState:
        return RandomState(self, ())


class RandomState(State):
    __slots__ = ("game", "history")

    def __init__(self, game: RandomGame, history: tuple[int, ...]) -> None:
        self.game, self.history = game, history

    def current_player(self) -> int:
        plan, depth = self.game.plan, len(self.history)
        if depth == len(plan):
            return TERMINAL
        if depth and plan[depth - 1][3] == self.history[-1] and depth > 1:
            return TERMINAL
        return plan[depth][0]

    def legal_actions(self) -> list[int]:
        return list(range(self.game.plan[len(self.history)][1]))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = self.game.plan[len(self.history)][1]
        weights = [number + 1 for number in range(count)]
        return [(number, weight / sum(weights)) for number, weight in enumerate(weights)]

    def child(self, action: int) -> RandomState:
        return RandomState(self.game, (*self.history, action))

    def information_state_string(self, player: int) -> str:
        seen = []
        for action, (mover, _, sights, _) in zip(self.history, self.game.plan, strict=False):
            sight = 2 if mover == player else sights[player]
            seen.append("?" if sight == 0 else str(action % 2) if sight == 1 else str(action))
        return f"P{player} {len(self.history)} {''.join(seen)}"

    def returns(self) -> list[float]:
        rng = random.Random(repr((self.game.seed, self.history)))
        pays = [rng.uniform(-5, 5) for _ in range(self.game.players)]  # no ties for rounding to break
        if self.game.zero_sum:
            pays[-1] = -sum(pays[:-1])
        return pays


def random_games(players: int | None = None, zero_sum: bool | None = None) -> st.SearchStrategy[RandomGame]:
    """Games of up to three players and six moves."""
    return st.builds(
        RandomGame,
        seed=st.integers(0, 10**9),
        players=st.integers(2, 3) if players is None else st.just(players),
        depth=st.integers(1, 6),
        zero_sum=st.booleans() if zero_sum is None else st.just(zero_sum),
    )
