"""The ladder of Doudizhu bots: ``python benchmarks/doudizhu_ladder.py --decks 200 greedy random rhcp greedy``.

Agents are named in pairs. A pair plays every deck twice with sides swapped. WP is the share of games won, ADP the mean
of ±1 × 2^bombs, both for the first of the pair; ± is the standard error over decks. ``rlcard`` is RLCard's rule agent
(``doudizhu-rule-v1``), where that is installed.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fogplay.bots.doudizhu import bot
from fogplay.games.doudizhu import Doudizhu, move_name, move_number
from fogplay.games.doudizhu_cards import show
from fogplay.notation.doudizhu import parse_cards
from fogplay.play.hands import play_hand
from fogplay.play.luck import Seeded
from fogplay.play.view import View

LADDER = ("greedy", "random", "rhcp", "greedy", "strong", "rhcp")


class RuleAgent:
    """RLCard's rule agent at our table."""

    def __init__(self) -> None:
        from rlcard.models.doudizhu_rule_models import DouDizhuRuleAgentV1

        self.agent = DouDizhuRuleAgentV1()

    def act(self, view: View) -> int:
        """What its rules say; where they name no legal move, the first."""
        seen = view.observation
        raw = {
            "trace": [(place % 3, move_name(move)) for place, move in enumerate(seen.moves)],
            "current_hand": show(seen.hand),
            "actions": list(view.names),
            "landlord": 0,
            "self": seen.seat,
        }
        np.random.seed(int(view.luck * 2**32))  # it draws from numpy's global generator
        name = self.agent.step({"raw_obs": raw})
        number = move_number(0 if name in (None, "pass") else parse_cards(str(name)))
        return number if number in view.legal else view.legal[0]


class Timed:
    """An agent whose time is measured."""

    def __init__(self, agent: Any) -> None:
        self.agent, self.seconds, self.moves = agent, 0.0, 0

    def act(self, view: View) -> int:
        """The agent's move."""
        began = time.process_time()
        action = self.agent.act(view)
        self.seconds += time.process_time() - began
        self.moves += 1
        return int(action)


def made(name: str) -> Timed:
    """An agent by its name."""
    return Timed(RuleAgent() if name == "rlcard" else bot(name))


def results(one: Timed, other: Timed, decks: int, seed: int) -> np.ndarray[Any, Any]:
    """[decks, 2] the scores of ``one``, as the landlord and as both peasants."""
    scores = np.zeros((decks, 2))
    for deck in range(decks):
        luck = Seeded(f"{seed} {deck}")
        scores[deck, 0] = play_hand(Doudizhu(), luck, [one, other, other]).scores[0] / 2
        scores[deck, 1] = play_hand(Doudizhu(), luck, [other, one, one]).scores[0] / -2
    return scores


def main() -> None:
    """Play every pair and print a row of a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", default=LADDER)
    parser.add_argument("--decks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| A | B | decks | WP of A | as landlord | as peasants | ADP of A | ms per move of A |")
    print("|---|---|---|---|---|---|---|---|")
    for first, second in zip(options.agents[::2], options.agents[1::2], strict=True):
        one, other = made(first), made(second)
        results(one, other, 1, -1)  # compile
        one.seconds, one.moves = 0.0, 0
        scores = results(one, other, options.decks, options.seed)
        won, error = scores > 0, lambda values: values.mean(axis=1).std() / len(values) ** 0.5
        print(
            f"| {first} | {second} | {options.decks} | {won.mean():.3f} ± {error(won):.3f} | {won[:, 0].mean():.3f} "
            f"| {won[:, 1].mean():.3f} | {scores.mean():+.3f} ± {error(scores):.3f} "
            f"| {one.seconds / one.moves * 1e3:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
