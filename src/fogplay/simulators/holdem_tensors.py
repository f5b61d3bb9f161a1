"""Public chance sampling and CFR-BR on a GPU: the learning of ``holdem_public.py`` on several boards at once.

Everything is a tensor ``[boards, hands, lanes]`` of all hands that a board allows and all lines of a round. A showdown
is a product of matrices: a row of ``beats[boards, hands, hands]`` has 1 where the opponent's hand is weaker, -1 where
it is stronger and 0 where the two hands are equal or share a card. All boards of an iteration meet the same strategies.
Hands and lanes are filled up to round numbers, which products of matrices want; nobody ever reaches what is filled in.

This is the only file outside ``nets/`` that imports torch.
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
from fogplay.simulators.holdem_lines import DEEPER, FOLDS
from fogplay.simulators.holdem_lookups import lookups
from fogplay.simulators.holdem_public import SEATS, Lines, Seen
from fogplay.trees.betting import Betting
from fogplay.vectors import WIDTH

BOARDS = 16  # of an iteration
ROUND = 16  # hands are filled up to a multiple of it
LEAST = 1e-30  # next to nothing: even probabilities where no regret is positive


class Known(NamedTuple):
    """What players know of some boards, before it is sent to the GPU."""

    hand: NDArray[np.int64]  # [boards, hands]
    strength: NDArray[np.int64]  # [boards, hands]
    buckets: list[list[NDArray[np.int64]]]  # [kinds of players][rounds][boards, hands]


class Dealt(NamedTuple):
    """The boards of an iteration."""

    beats: Tensor  # [boards, hands, hands] 1: the row's hand beats the column's, -1: it loses
    meets: Tensor  # [boards, hands, hands] 1 where two hands share no card
    buckets: list[list[Tensor]]  # [kinds of players][rounds][boards * hands]
    reach: Tensor  # [boards, hands, 1] with which every hand begins: the weight of the iteration


class Turn(NamedTuple):
    """One decision of a round."""

    player: int
    actions: range


class Stage:
    """One round: its decisions, and what its lanes lead to."""

    def __init__(self, lines: Lines, street: int, device: str) -> None:
        round_ = lines.rounds[street]
        self.turns = [
            Turn(int(spot["player"]), range(int(spot["first"]), int(spot["first"] + spot["count"])))
            for spot in round_.spots[0]
        ]
        self.kind = [int(kind) for kind in round_.actions["kind"]]
        self.to = [int(to) for to in round_.actions["to"]]
        self.slot = [int(slot) for slot in round_.actions["slot"]]
        self.slots = round_.slots
        self.last = street == len(lines.rounds) - 1
        self.stake = [  # [seats][actions, lanes]
            torch.from_numpy(np.moveaxis(stake[street], 1, 0).reshape(len(self.kind), -1)).to(device)
            for stake in lines.stake
        ]
        self.lanes = self.stake[0].shape[1]
        ahead = lines.lanes[0][street].ahead  # [lanes, ends]
        self.ends = ahead.shape[1]
        self.onward = [torch.from_numpy(ahead[:, end].clip(0)).to(device) for end in range(self.ends)]
        if not self.last:  # where the lanes of the next round come from, among [ends * lanes], and whether they do
            source = np.zeros(lines.lanes[0][street + 1].chunks * WIDTH, np.int64)
            place = ahead.T.reshape(-1)
            source[place[place >= 0]] = np.flatnonzero(place >= 0)
            used = np.arange(len(source)) < (place >= 0).sum()
            self.source = torch.from_numpy(source).to(device)
            self.used = torch.from_numpy(used.astype(np.float32)).to(device)


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


def descend(stage: Stage, share: Tensor, player: int, reach: Tensor) -> list[Tensor]:
    """The reach of a player after every action; where it is the same, it is the same object."""
    at: list[Tensor] = [reach] * len(stage.turns)
    after: list[Tensor] = [reach] * len(stage.kind)
    for place, turn in enumerate(stage.turns):
        for action in turn.actions:
            moved = turn.player == player
            after[action] = at[place] * share[:, :, stage.slot[action]] if moved else at[place]
            if stage.kind[action] == DEEPER:
                at[stage.to[action]] = after[action]
    return after


def at_ends(stage: Stage, after: list[Tensor]) -> Tensor:
    """The reach at the lanes of the next round."""
    ends: list[Any] = [None] * stage.ends
    for action, kind in enumerate(stage.kind):
        if kind not in (DEEPER, FOLDS):
            ends[stage.to[action]] = after[action]
    return torch.cat(ends, dim=2)[:, :, stage.source] * stage.used


class Ways:
    """What a responder's actions are worth in one round, against an opponent's reach after every action."""

    def __init__(self, stage: Stage, dealt: Dealt, responder: int, after: list[Tensor], onward: Tensor | None) -> None:
        self.stage, self.responder = stage, responder
        self.worth: dict[int, Tensor] = {}  # of actions that end the round
        stake = stage.stake[responder]
        folds = [action for action, kind in enumerate(stage.kind) if kind == FOLDS]
        ends = [action for action, kind in enumerate(stage.kind) if kind not in (FOLDS, DEEPER)]
        self._take(folds, dealt.meets, after, stake)
        if stage.last:
            self._take(ends, dealt.beats, after, stake)
        else:
            assert onward is not None
            for action in ends:
                self.worth[action] = onward[:, :, stage.onward[stage.to[action]]]

    def _take(self, actions: list[int], matrix: Tensor, after: list[Tensor], stake: Tensor) -> None:
        """Multiply all different reaches at once."""
        different = {id(after[action]): after[action] for action in actions}
        if not different:
            return
        sums = torch.bmm(matrix, torch.cat(list(different.values()), dim=2))
        found = dict(zip(different, sums.split(self.stage.lanes, dim=2), strict=True))
        for action in actions:
            self.worth[action] = found[id(after[action])] * stake[action]

    def mixed(self, share: Tensor) -> tuple[Tensor, Tensor]:
        """The values of the round, and by how much each action of the responder is worth more than its strategy."""
        gain = torch.empty_like(share)
        for place in reversed(range(len(self.stage.turns))):
            turn = self.stage.turns[place]
            worth = [self.worth[action] for action in turn.actions]
            if turn.player != self.responder:
                value = sum(worth[1:], worth[0])
            else:
                first = self.stage.slot[turn.actions[0]]
                value = worth[0] * share[:, :, first]
                for number, each in enumerate(worth[1:], 1):
                    value = torch.addcmul(value, each, share[:, :, first + number])
                for number, each in enumerate(worth):
                    torch.sub(each, value, out=gain[:, :, first + number])
            self._note(place, value)
        return self.value, gain

    def best(self) -> tuple[Tensor, Tensor]:
        """The values of a best response on the round, and its choices ``[boards, hands, slots, lanes]``."""
        chosen: list[Any] = [None] * self.stage.slots[self.responder]
        for place in reversed(range(len(self.stage.turns))):
            turn = self.stage.turns[place]
            worth = [self.worth[action] for action in turn.actions]
            if turn.player != self.responder:
                value = sum(worth[1:], worth[0])
            else:
                value = worth[0]
                for each in worth[1:]:
                    value = torch.maximum(value, each)
                left = torch.ones_like(value)
                for action, each in zip(turn.actions, worth, strict=True):
                    chosen[self.stage.slot[action]] = left * (each == value)
                    left = left - chosen[self.stage.slot[action]]
            self._note(place, value)
        return self.value, torch.stack(chosen, dim=2)

    def _note(self, place: int, value: Tensor) -> None:
        """Keep what a decision is worth for the action that leads to it."""
        self.value = value
        for action, (kind, to) in enumerate(zip(self.stage.kind, self.stage.to, strict=True)):
            if kind == DEEPER and to == place:
                self.worth[action] = value


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

    def tables(self) -> dict[str, NDArray[np.float32]]:
        """Everything learned, by name."""
        return {name: table.cpu().numpy() for name, table in self._tables().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the result of ``tables``."""
        for name, table in self._tables().items():
            table.copy_(torch.from_numpy(np.ascontiguousarray(arrays[name])))

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
