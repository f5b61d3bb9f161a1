"""The walk through all boards of hold'em: what a responder earns in each seat, board by board.

A walk is cut by the cards of the second round (the flop), so that it can be shared between threads, stopped and
continued. What it finds on one flop is small: a value per seat, line and class of hands.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.games.holdem import Holdem
from fogplay.jit import num_cores
from fogplay.simulators.holdem_boards import Dealt, Next, hand_classes, next_boards, stabiliser
from fogplay.simulators.holdem_lines import Lanes, Round, Shares, lanes_of, rounds_of
from fogplay.simulators.holdem_lookups import Lookups
from fogplay.simulators.holdem_rounds import walk_down, walk_up
from fogplay.simulators.holdem_vectors import (
    LARGEST,
    MIXED,
    Board,
    Buffers,
    Own,
    average_over,
    new_buffers,
    walk_last,
)
from fogplay.trees.betting import Betting
from fogplay.vectors import WIDTH

SEATS = 2
NOTHING = np.zeros((1, 1, WIDTH))


@dataclass(frozen=True, eq=False)
class Walk:
    """Everything about a pair of strategies that a walk reads."""

    rules: Holdem
    lookups: Lookups
    rounds: list[Round]
    lanes: tuple[list[Lanes], list[Lanes]]  # by the responder's seat
    how: int  # LARGEST: a best response; MIXED: the responder follows a strategy
    precision: Any = np.float64  # of the last round
    scratch: Any = field(default_factory=threading.local)  # of each thread

    @property
    def num_lines(self) -> int:
        """Lines of the second round."""
        return self.rounds[0].ends

    @property
    def classes(self) -> NDArray[np.int64]:
        """[hands] the class of each hand up to suits."""
        return hand_classes(self.lookups.deck)

    @property
    def threads(self) -> int:
        """How many threads may share a walk's flops, unless the caller knows better."""
        return num_cores()

    def flops(self) -> list[Next]:
        """The cards of the second round, up to suits."""
        return next_boards(self.lookups.deck, (), self.rules.board[1])

    def begin(self) -> Sequence[NDArray[np.float64]]:
        """[seats] the opponent's reach at the second round: [chunks, hands, WIDTH]."""
        reach = np.zeros((1, self.lookups.deck.hands, WIDTH))
        reach[0, :, 0] = 1.0
        return self._down(0, self._board(()), [reach, reach])

    def on_flop(self, flop: Next, reach: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """[seats, lines, classes] the values on a flop, times its weight, as means over each class of hands."""
        return self.by_class(self._after((), [flop], reach))

    def by_class(self, sums: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The same from ``[seats][chunks, hands, WIDTH]`` by hand."""
        classes = self.classes
        size = np.bincount(classes)
        found = np.zeros((SEATS, self.num_lines, len(size)))
        for seat in range(SEATS):
            for lane, line in enumerate(self.lanes[seat][1].line):
                by_hand = np.ascontiguousarray(sums[seat][lane // WIDTH, :, lane % WIDTH])
                found[seat, line] = np.bincount(classes, by_hand, len(size)) / size
        return found

    def finish(self, total: NDArray[np.float64]) -> tuple[float, float]:
        """What the responder earns in each seat, in chips per hand, from the sum of ``on_flop`` over all flops."""
        deck, classes = self.lookups.deck, self.classes
        chance = 1 / math.comb(deck.cards - 4, self.rules.board[1])
        deals = deck.hands * math.comb(deck.cards - 2, 2)
        earned = []
        reach = np.zeros((1, deck.hands, WIDTH))
        reach[0, :, 0] = 1.0
        for seat in range(SEATS):
            onward = np.zeros((self.lanes[seat][1].chunks, deck.hands, WIDTH))
            for lane, line in enumerate(self.lanes[seat][1].line):
                onward[lane // WIDTH, :, lane % WIDTH] = total[seat, line][classes] * chance
            sums = np.zeros_like(reach)
            self._up(0, self._board(()), seat, reach, onward, 1.0, sums)
            earned.append(float(sums[0, :, 0].sum()) / deals)
        return earned[0], earned[1]

    # ---- One round

    def _after(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        """[seats] the values when one of ``boards`` is dealt next, times their weights, summed."""
        street = len(dealt) + 1
        if street == self.rules.rounds - 1:
            return self._last(dealt, boards, reach)
        sums = self._zeros(street)
        for board in boards:
            now = (*dealt, board.cards)
            hands = self._board(now)
            values = self._beyond(now, self._down(street, hands, reach))
            for seat in range(SEATS):
                self._up(street, hands, seat, reach[seat], values[seat], float(board.weight), sums[seat])
        return sums

    def _beyond(self, dealt: Dealt, reach: Sequence[NDArray[Any]]) -> Sequence[NDArray[np.float64]]:
        """[seats] the values of the next round's lanes, before its cards are dealt."""
        values = self._after(dealt, self.next_boards(dealt), reach)
        images, chance = self.finishing(dealt)
        scale, scratch = np.full((1, WIDTH), chance), np.zeros((self.lookups.deck.hands, WIDTH))
        for each in values:
            average_over(images, scale, each, scratch)
        return values

    def next_boards(self, dealt: Dealt) -> list[Next]:
        """What can be dealt next, up to suits."""
        return next_boards(self.lookups.deck, dealt, self.rules.board[len(dealt) + 1])

    def finishing(self, dealt: Dealt) -> tuple[NDArray[np.int64], float]:
        """What finishes the sum over the next cards: permutations to add over, then a factor."""
        deck, street = self.lookups.deck, len(dealt) + 1
        seen = sum(self.rules.board[:street])
        images = stabiliser(deck, dealt)
        return images, 1 / math.comb(deck.cards - 4 - seen, self.rules.board[street]) / len(images)

    def _zeros(self, street: int) -> list[NDArray[np.float64]]:
        """[seats] room for the values of a round's lanes."""
        hands = self.lookups.deck.hands
        return [np.zeros((self.lanes[seat][street].chunks, hands, WIDTH)) for seat in range(SEATS)]

    def _room(self, street: int) -> Sequence[NDArray[Any]]:
        """[seats] room for the reach at a round's lanes; where no lane is, it is zero."""
        kind = self.precision if street + 1 == self.rules.rounds else np.float64
        hands = self.lookups.deck.hands
        return [np.zeros((self.lanes[seat][street].chunks, hands, WIDTH), kind) for seat in range(SEATS)]

    def _board(self, dealt: Dealt) -> Board:
        """The hands on a board that is not complete."""
        return self.lookups.board(len(dealt), [tuple(itertools.chain(*dealt))], last=False)

    def _down(self, street: int, board: Board, reach: Sequence[NDArray[np.float64]]) -> Sequence[NDArray[Any]]:
        """[seats] the reach at the next round, in the precision of that round."""
        buffers, onward = self._scratch(street, board)[0], self._room(street + 1)
        for seat in range(SEATS):
            lanes = self.lanes[seat][street]
            walk_down(
                self.rounds[street].spots[seat], self.rounds[street].actions, seat, board, reach[seat],
                lanes.theirs.share, lanes.theirs.buckets, lanes.ahead, buffers, onward[seat].reshape(-1, WIDTH),
            )  # fmt: skip
        return onward

    def _up(
        self,
        street: int,
        board: Board,
        seat: int,
        reach: NDArray[np.float64],
        onward: NDArray[np.float64],
        weight: float,
        sums: NDArray[np.float64],
    ) -> None:
        """Add the values at the start of a round to ``sums``, from those of the next round."""
        lanes, round_ = self.lanes[seat][street], self.rounds[street]
        own, own_buckets = (NOTHING, 1) if lanes.own is None else (lanes.own.share, lanes.own.buckets)
        buffers, known = self._scratch(street, board)
        walk_up(
            round_.spots[seat], round_.actions, seat, self.how, board, reach, lanes.theirs.share,
            lanes.theirs.buckets, own, own_buckets, lanes.stake, lanes.ahead, onward.reshape(-1, WIDTH), known, buffers,
            sums, weight,
        )  # fmt: skip

    def _scratch(self, street: int, board: Board) -> tuple[Buffers, NDArray[np.float64]]:
        """One thread's buffers for a round before the last, and for the values after it; all are overwritten."""
        found: tuple[Buffers, NDArray[np.float64]] | None = getattr(self.scratch, f"of_{street}", None)
        if found is None:
            hands = board.hand.shape[1]
            known = np.zeros((self.rounds[street].ends * hands, WIDTH))
            found = new_buffers(self.rounds[street], hands, self.lookups.deck.cards, np.float64), known
            setattr(self.scratch, f"of_{street}", found)
        return found

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        """``_after`` for the last round's boards."""
        street, kind = self.rules.rounds - 1, self.precision
        sums = self._zeros(street)
        board, weight = self.last_boards(dealt, boards)
        round_ = self.rounds[street]
        buffers = new_buffers(round_, board.hand.shape[1], self.lookups.deck.cards, kind)
        for seat in range(SEATS):
            lanes = self.lanes[seat][street]
            for chunk in range(lanes.chunks):
                own, own_buckets = (NOTHING[0], 1) if lanes.own is None else (lanes.own.share[chunk], lanes.own.buckets)
                mine = own.astype(kind, copy=False)
                walk_last(
                    round_.spots[seat], round_.actions, seat, self.how, board, weight,
                    reach[seat][chunk].astype(kind, copy=False), lanes.theirs.share[chunk].astype(kind, copy=False),
                    lanes.theirs.buckets, Own(mine, mine), own_buckets,
                    lanes.stake[chunk].astype(kind, copy=False), np.zeros((0, WIDTH), kind), buffers, sums[seat][chunk],
                )  # fmt: skip
        return sums

    def last_boards(self, dealt: Dealt, boards: Sequence[Next]) -> tuple[Board, NDArray[np.float64]]:
        """The hands on the last round's boards, and the boards' weights."""
        before = tuple(itertools.chain(*dealt))
        cards = [(*before, *each.cards) for each in boards]
        weight = np.array([each.weight for each in boards], np.float64)
        return self.lookups.board(self.rules.rounds - 1, cards, last=True), weight


def new_walk(
    rules: Holdem,
    betting: Betting,
    lookups: Lookups,
    theirs: Shares,
    own: Shares | None = None,
    precision: Any = np.float64,
) -> Walk:
    """A walk against ``theirs``: of a best response, or of ``own``."""
    rounds = rounds_of(betting, rules.rounds)
    first, second = (lanes_of(betting, rounds, seat, theirs, own) for seat in range(SEATS))
    return Walk(rules, lookups, rounds, (first, second), LARGEST if own is None else MIXED, precision)
