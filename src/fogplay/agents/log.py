"""Logs of duplicate matches, in the competition's notation (``notation.acpc``): every hand in every seating."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fogplay.agents.match import DuplicateMatch, deals_of, seatings
from fogplay.cards.evaluator import evaluate
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import LETTERS, Holdem
from fogplay.notation.acpc import Score, hand_line, log_head, print_cards, print_score
from fogplay.notation.gamedef import definition_of, name_of
from fogplay.storage import atomically
from fogplay.trees.betting import Betting, paid_by


def write_log(path: Path, match: DuplicateMatch, names: Sequence[str]) -> None:
    """Write a match's hands to a file, all or nothing."""
    with atomically(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in log_lines(match, names))


def log_lines(match: DuplicateMatch, names: Sequence[str]) -> Iterator[str]:
    """The lines of a log: comments, every hand in every seating, the score."""
    if match.ends is None:
        raise FogplayError("the hands of this match were not kept: play it with keep=True")
    rules = match.rules
    yield log_head("fogplay-match", name_of(definition_of(rules)) or str(rules), match.hands, match.seed)
    yield f"# a duplicate match: {match.deals} deals, each played in all seatings"
    story = Story(match.rules, match.betting)
    ways = seatings(match.rules.players).tolist()
    hand = 0
    for cards, ends in zip(deals_of(match), match.ends.tolist(), strict=True):
        for seating, end in zip(ways, ends, strict=True):
            yield state_line(hand, story, cards.tolist(), end, [names[player] for player in seating])
            hand += 1
    yield print_score(Score(match.chips, tuple(names)))


def state_line(hand: int, story: Story, cards: Sequence[int], end: int, names: Sequence[str]) -> str:
    """The line of one hand, which ended at a node; ``cards`` are the board, then each seat's hole cards."""
    letters = story.betting_to(end)
    rules = story.rules
    first = len(cards) - rules.players * rules.hole
    holes = [cards[at : at + rules.hole] for at in range(first, len(cards), rules.hole)]
    seen, boards = 0, []
    for count in rules.board[1 : letters.count("/") + 1]:
        boards.append(cards[seen : seen + count])
        seen += count
    return hand_line(hand, letters, print_cards(holes, boards), story.values(end, cards), names)


class Story:
    """What happened on the way to an end of a betting tree."""

    def __init__(self, rules: Holdem, betting: Betting) -> None:
        self.rules, self.betting = rules, betting
        self.parent = _parents(betting)
        self.betting_to = functools.lru_cache(maxsize=1 << 16)(self._betting_to)

    def _betting_to(self, end: int) -> str:
        """Letters by round, with ``/`` where a round is over: ``rc/cc/...``."""
        nodes, told, node = self.betting.nodes, "", end
        while node != 0:
            before = int(self.parent[node])
            here = nodes[before]
            letter = LETTERS[node - int(here["first_child"]) + 1 - int(here["calling"])]
            told = letter + ("/" if nodes[node]["street"] != here["street"] else "") + told
            node = before
        return told

    def values(self, end: int, cards: Sequence[int]) -> list[float]:
        """What each seat won in chips."""
        node, rules = self.betting.nodes[end], self.rules
        seats = range(rules.players)
        paid = [int(paid_by(int(node["slot"]), seat)) for seat in seats]
        winners = [seat for seat in seats if int(node["in_hand"]) >> seat & 1]
        if len(winners) > 1:
            board = cards[: len(cards) - 2 * rules.players]
            hands = {seat: cards[len(board) + 2 * seat : len(board) + 2 * seat + 2] for seat in winners}
            strength = {seat: evaluate([*board, *hand]) for seat, hand in hands.items()}
            winners = [seat for seat in winners if strength[seat] == max(strength.values())]
        share = sum(paid) / len(winners)
        return [(share if seat in winners else 0.0) - paid[seat] for seat in seats]


def _parents(betting: Betting) -> NDArray[np.int32]:
    """[nodes] the node before each."""
    nodes = betting.nodes
    acting = np.flatnonzero(nodes["player"] != TERMINAL)
    parent = np.zeros(len(nodes), np.int32)
    for action in range(betting.widest):
        having = acting[nodes["count"][acting] > action]
        parent[nodes["first_child"][having] + action] = having
    return parent
