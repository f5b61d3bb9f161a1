"""Public chance sampling and CFR-BR on a GPU: the learning of ``holdem_public.py`` on several boards at once.

All boards of an iteration meet the same strategies. Hands and lanes are filled up to round numbers, which products of
matrices want; nobody ever reaches what is filled in. This file and ``holdem_tensor_walk.py`` are the only ones outside
``nets/`` that import torch.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.simulators.holdem_boards import pairs
from fogplay.simulators.holdem_lookups import lookups
from fogplay.simulators.holdem_public import SEATS, Lines, Seen
from fogplay.simulators.holdem_tensor_walk import Dealt, Stage, Ways, at_ends, descend
from fogplay.trees.betting import Betting

BOARDS = 16  # of an iteration
ROUND = 16  # hands are filled up to a multiple of it
LEAST = 1e-30  # next to nothing: even probabilities where no regret is positive


class Known(NamedTuple):
    """What players know of some boards, before it is sent to the GPU."""

    hand: NDArray[np.int64]  # [boards, hands]
    strength: NDArray[np.int64]  # [boards, hands]
    buckets: list[list[NDArray[np.int64]]]  # [kinds of players][rounds][boards, hands]


class Player:
    """One seat of a game: regrets and, unless it answers best on the last round, the sums of its strategies."""

    def __init__(self, stages: Sequence[Stage], seat: int, kind: int, counts: Sequence[int], answers: bool) -> None:
        self.seat, self.kind, self.answers = seat, kind, answers
        device = stages[0].stake[0].device
        shapes = [(count, stage.slots[seat], stage.lanes) for count, stage in zip(counts, stages, strict=True)]
        learned = [not (answers and stage.last) for stage in stages]
        self.regret = [
            torch.zeros(shape if own else (0, 0, 0), device=device) for shape, own in zip(shapes, learned, strict=True)
        ]
        self.average = [torch.zeros((0, 0, 0) if answers else shape, device=device) for shape in shapes]
        self.share: list[Tensor] = []  # [rounds] of an iteration: [boards, hands, slots, lanes]

    def learns(self, stage: Stage) -> bool:
        """Whether it has regrets in a round."""
        return not (self.answers and stage.last)

    def tables(self, name: str) -> dict[str, Tensor]:
        """All tables by name."""
        found = {}
        for street in range(len(self.regret)):
            found[f"{name} regret {self.seat} {street}"] = self.regret[street]
            found[f"{name} average {self.seat} {street}"] = self.average[street]
        return {key: table for key, table in found.items() if table.numel()}

    def look(self, stage: Stage, street: int, bucket: Tensor, boards: int) -> Tensor:
        """[boards, hands, slots, lanes] what it does with every hand: in proportion to positive regrets."""
        positive = self.regret[street].clamp(min=0).add_(LEAST)
        for turn in stage.turns:
            if turn.player == self.seat:
                own = positive[:, stage.slot[turn.actions[0]] : stage.slot[turn.actions[-1]] + 1]
                own /= own.sum(dim=1, keepdim=True)
        _, slots, lanes = positive.shape
        return positive[bucket].view(boards, -1, slots, lanes)

    def learn(self, street: int, bucket: Tensor, gain: Tensor) -> None:
        """Add regrets ``[boards, hands, slots, lanes]``."""
        _add(self.regret[street], bucket, gain)

    def remember(self, stage: Stage, street: int, bucket: Tensor, after: list[Tensor]) -> None:
        """Add its reach after each of its actions to its average."""
        if self.answers:
            return
        own: list[Any] = [None] * stage.slots[self.seat]
        for turn in stage.turns:
            if turn.player == self.seat:
                for action in turn.actions:
                    own[stage.slot[action]] = after[action]
        _add(self.average[street], bucket, torch.stack(own, dim=2))


def _add(table: Tensor, bucket: Tensor, rows: Tensor) -> None:
    """Add the rows of all hands to the buckets that they are in."""
    flat = table.view(len(table), -1)
    flat.index_add_(0, bucket, rows.reshape(len(bucket), -1))


class TensorGame:
    """A learner's tables for both seats, and the iterations that fill them."""

    def __init__(
        self, rules: Holdem, betting: Betting, seen: Seen, opponent: Seen | None = None, device: str = "cuda",
        boards: int = BOARDS,
    ) -> None:  # fmt: skip
        """With an ``opponent``, each seat learns against one that answers best in the last round."""
        self.betting, self.device, self.boards = betting, device, boards
        self.lines = lines = Lines(rules, betting)
        self.lookups = lookups(rules, seen.buckets, seen.buckets)
        self.kinds = [seen] if opponent is None else [seen, opponent]
        self.stages = [Stage(lines, street, device) for street in range(len(lines.rounds))]
        self.players = [Player(self.stages, seat, 0, seen.counts, False) for seat in range(SEATS)]
        self.rivals = (
            [] if opponent is None else [Player(self.stages, seat, 1, opponent.counts, True) for seat in range(SEATS)]
        )
        self.games = (
            [(self.players[0], self.players[1])]
            if opponent is None
            else [(self.players[0], self.rivals[1]), (self.rivals[0], self.players[1])]
        )
        holes = pairs(self.lookups.deck)
        meets = np.zeros((len(holes) + 1, len(holes) + 1), np.float32)  # the last is no hand
        meets[:-1, :-1] = ~(holes[:, None, :, None] == holes[None, :, None, :]).any(axis=(2, 3))
        self.meets = torch.from_numpy(meets).to(device)
        self._pool = ThreadPoolExecutor(1)
        self._ahead: tuple[int, int, Future[Known]] | None = None
        torch.backends.cuda.matmul.allow_tf32 = True  # sums of a thousand products of 1, 0, -1 and a probability

    # ---- What was learned

    def order(self) -> NDArray[np.int64]:
        """Where the numbers of the tables belong."""
        return self.lines.order()

    def tables(self) -> dict[str, NDArray[np.float32]]:
        """Everything learned, by name."""
        return {name: table.cpu().numpy() for name, table in self._tables().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the result of ``tables``."""
        for name, table in self._tables().items():
            table.copy_(
                torch.from_numpy(np.array(arrays[name]))
            )  # a copy: files are read as arrays that nobody may write

    def _tables(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, players in (("player", self.players), ("rival", self.rivals)):
            for player in players:
                found |= player.tables(name)
        return found

    def weights(self) -> NDArray[np.float32]:
        """[slots] the average strategies, where a learner's tables have them."""
        return self.lines.weights(
            lambda seat, street: self.players[seat].average[street].cpu().numpy(), self.betting.num_slots
        )

    # ---- Learning

    def compile(self) -> None:
        """Warm up: boards that count for nothing change nothing."""
        self.learn_on(self.look([np.arange(sum(self.lines.board))] * self.boards), 0.0)

    def learn(self, iteration: int, seed: int) -> None:
        """Deal boards, learn from them, and count what they teach ``iteration`` times."""
        ahead, self._ahead = self._ahead, (iteration + 1, seed, self._pool.submit(self._draw, iteration + 1, seed))
        known = ahead is not None and ahead[:2] == (iteration, seed)
        self.learn_on(
            ahead[2].result() if ahead is not None and known else self._draw(iteration, seed), float(iteration)
        )
        if self.device != "cpu":
            torch.cuda.synchronize()

    def _draw(self, iteration: int, seed: int) -> Known:
        rng = np.random.default_rng([seed, iteration])
        cards, dealt = self.lookups.deck.cards, sum(self.lines.board)
        return self.look([rng.permutation(cards)[:dealt] for _ in range(self.boards)])

    def look(self, dealt: Sequence[NDArray[np.int64]]) -> Known:
        """What is known of boards, whose cards are in the order they were dealt."""
        boards = np.array(dealt, np.uint8)
        holes = pairs(self.lookups.deck)
        free = ~(holes[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
        hand = np.nonzero(free)[1].reshape(len(boards), -1)
        more = [(0, 0), (0, -hand.shape[1] % ROUND)]

        def of_hands(found: NDArray[np.uint16]) -> NDArray[np.int64]:
            return np.pad(np.take_along_axis(found, hand, axis=1).astype(np.int64), more)

        streets = list(enumerate(itertools.accumulate(self.lines.board)))
        buckets = [
            [of_hands(kind.buckets(street, boards[:, :cards])) for street, cards in streets] for kind in self.kinds
        ]
        return Known(np.pad(hand, more, constant_values=len(holes)), of_hands(self.lookups.strength(boards)), buckets)

    @torch.no_grad()
    def learn_on(self, known: Known, weight: float) -> None:
        """Learn from boards."""
        hand, strong = self._sent(known.hand), self._sent(known.strength)
        meets = self.meets[hand[:, :, None], hand[:, None, :]]
        beats = torch.sign(strong[:, :, None] - strong[:, None, :]).float() * meets
        buckets = [[self._sent(of_round).reshape(-1) for of_round in of_kind] for of_kind in known.buckets]
        reach = (hand < len(self.meets) - 1).float()[:, :, None] * weight
        for game in self.games:
            self._learn(game, Dealt(beats, meets, buckets, reach))

    def _sent(self, array: NDArray[Any]) -> Tensor:
        sent = torch.from_numpy(array)
        return sent if self.device == "cpu" else sent.pin_memory().to(self.device, non_blocking=True)

    def _learn(self, game: tuple[Player, Player], dealt: Dealt) -> None:
        """Down through the rounds with both players' reach, and up with their values.

        Reach begins with the weight: regrets are proportional to the opponent's, the average to the player's own.
        """
        boards, lanes = len(dealt.reach), self.stages[0].lanes
        first = torch.zeros(lanes, device=self.device)
        first[0] = 1.0
        reach = [dealt.reach * first for _ in game]
        down: list[list[list[Tensor]]] = []  # [rounds][seats] the reach after every action
        for street, stage in enumerate(self.stages):
            for player in game:
                if street == 0:
                    player.share = []
                if player.learns(stage):
                    player.share.append(player.look(stage, street, dealt.buckets[player.kind][street], boards))
            if stage.last:
                break
            down.append([descend(stage, player.share[street], player.seat, reach[player.seat]) for player in game])
            reach = [at_ends(stage, after) for after in down[-1]]
        onward = self._learn_last(game, dealt, reach)
        for street in reversed(range(len(self.stages) - 1)):
            stage, values = self.stages[street], list[Tensor]()
            for player in game:
                ways = Ways(stage, dealt, player.seat, down[street][1 - player.seat], onward[player.seat])
                value, gain = ways.mixed(player.share[street])
                values.append(value)
                bucket = dealt.buckets[player.kind][street]
                player.remember(stage, street, bucket, down[street][player.seat])
                player.learn(street, bucket, gain)
            onward = values

    def _learn_last(self, game: tuple[Player, Player], dealt: Dealt, reach: list[Tensor]) -> list[Tensor]:
        """Learn on the last round, an answer first; return the values ``[boards, hands, lanes]`` of both seats."""
        street, stage = len(self.stages) - 1, self.stages[-1]
        after: list[Any] = [None, None]
        values: list[Any] = [None, None]
        for player in game:
            if player.learns(stage):
                after[player.seat] = descend(stage, player.share[street], player.seat, reach[player.seat])
        for player in game:
            if not player.learns(stage):
                ways = Ways(stage, dealt, player.seat, after[1 - player.seat], None)
                values[player.seat], choice = ways.best()
                after[player.seat] = descend(stage, choice, player.seat, reach[player.seat])
        for player in game:
            if player.learns(stage):
                bucket = dealt.buckets[player.kind][street]
                ways = Ways(stage, dealt, player.seat, after[1 - player.seat], None)
                values[player.seat], gain = ways.mixed(player.share[street])
                player.remember(stage, street, bucket, after[player.seat])
                player.learn(street, bucket, gain)
        return values


def on_gpu(rules: Holdem, betting: Betting, seen: Seen, opponent: Seen | None) -> TensorGame:
    """The same on a GPU, if there is one."""
    if not torch.cuda.is_available():
        raise FogplayError("torch finds no NVIDIA GPU; use --device cpu")
    return TensorGame(rules, betting, seen, opponent)
