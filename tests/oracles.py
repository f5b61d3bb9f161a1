"""Slow, obvious twins: the theory as plain recursion over a game's own states, for kernels to be tested against.

A strategy here is a dictionary from infoset string to a list of action probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fogplay.games import CHANCE

Policy = dict[str, list[float]]


def moves(state: Any, policy: Policy) -> list[tuple[int, float]]:
    """What happens next, with its probability, at a state that is not terminal."""
    player = state.current_player()
    if player == CHANCE:
        return list(state.chance_outcomes())
    return list(zip(state.legal_actions(), policy[state.information_state_string(player)], strict=True))


def expected_values(state: Any, policy: Policy) -> list[float]:
    """What each player earns on average when all follow ``policy``."""
    if state.is_terminal():
        return list(state.returns())
    total: list[float] | None = None
    for action, probability in moves(state, policy):
        below = [probability * value for value in expected_values(state.child(action), policy)]
        total = below if total is None else [a + b for a, b in zip(total, below, strict=True)]
    assert total is not None
    return total


def best_response_value(root: Any, policy: Policy, player: int) -> float:
    """What ``player`` earns by a best response: at each infoset, the action best over all histories in it."""
    histories: dict[str, list[tuple[Any, float]]] = defaultdict(list)

    def collect(state: Any, others: float) -> None:
        if state.is_terminal():
            return
        if state.current_player() == player:
            histories[state.information_state_string(player)].append((state, others))
            for action in state.legal_actions():
                collect(state.child(action), others)
        else:
            for action, probability in moves(state, policy):
                collect(state.child(action), others * probability)

    choice: dict[str, int] = {}

    def choose(infoset: str) -> int:
        if infoset not in choice:
            actions = histories[infoset][0][0].legal_actions()
            worth = [sum(w * value(s.child(a)) for s, w in histories[infoset]) for a in actions]
            choice[infoset] = actions[max(range(len(actions)), key=lambda number: worth[number])]
        return choice[infoset]

    def value(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[player])
        if state.current_player() == player:
            return value(state.child(choose(state.information_state_string(player))))
        return sum(probability * value(state.child(action)) for action, probability in moves(state, policy))

    collect(root, 1.0)
    return value(root)


def match_regrets(regrets: list[float]) -> list[float]:
    positive = [max(regret, 0.0) for regret in regrets]
    total = sum(positive)
    return [each / total for each in positive] if total > 0 else [1 / len(regrets)] * len(regrets)


class PlainCfr:
    """CFR as in its paper, history by history; alternating updates if asked; ``plus`` floors regrets at 0."""

    def __init__(self, root: Any, players: int, alternating: bool = True, plus: bool = False) -> None:
        self.root, self.players, self.alternating, self.plus = root, players, alternating, plus
        self.regrets: dict[str, list[float]] = {}
        self.sums: dict[str, list[float]] = {}
        self.iteration = 0

    def iterate(self) -> None:
        self.iteration += 1
        if self.alternating:
            for player in range(self.players):
                self._update([player])
        else:
            self._update(list(range(self.players)))

    def average(self) -> Policy:
        return {
            infoset: [each / sum(row) if sum(row) > 0 else 1 / len(row) for each in row]
            for infoset, row in self.sums.items()
        }

    def _update(self, learners: list[int]) -> None:
        instant: dict[str, list[float]] = {}
        current = {infoset: match_regrets(row) for infoset, row in self.regrets.items()}
        self._walk(self.root, [1.0] * self.players, 1.0, learners, current, instant)
        for infoset, row in instant.items():
            regrets = self.regrets[infoset]
            for number, regret in enumerate(row):
                regrets[number] += regret
                if self.plus:
                    regrets[number] = max(regrets[number], 0.0)

    def _walk(
        self, state: Any, reach: list[float], chance: float, learners: list[int], current: Policy, instant: Policy
    ) -> list[float]:
        if state.is_terminal():
            return list(state.returns())
        player = state.current_player()
        if player == CHANCE:
            total = [0.0] * self.players
            for action, probability in state.chance_outcomes():
                below = self._walk(state.child(action), reach, chance * probability, learners, current, instant)
                total = [a + probability * b for a, b in zip(total, below, strict=True)]
            return total
        infoset, actions = state.information_state_string(player), state.legal_actions()
        self.regrets.setdefault(infoset, [0.0] * len(actions))
        self.sums.setdefault(infoset, [0.0] * len(actions))
        strategy = current.get(infoset, [1 / len(actions)] * len(actions))
        values = []
        for action, probability in zip(actions, strategy, strict=True):
            deeper = [r * probability if p == player else r for p, r in enumerate(reach)]
            values.append(self._walk(state.child(action), deeper, chance, learners, current, instant))
        expected = [sum(s * v[p] for s, v in zip(strategy, values, strict=True)) for p in range(self.players)]
        if player in learners:
            others = chance
            for other, share in enumerate(reach):
                others *= share if other != player else 1.0
            row = instant.setdefault(infoset, [0.0] * len(actions))
            weight = self.iteration if self.plus else 1
            for number in range(len(actions)):
                row[number] += others * (values[number][player] - expected[player])
                self.sums[infoset][number] += weight * reach[player] * strategy[number]
        return expected
