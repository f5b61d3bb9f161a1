"""The walk through a round of hold'em as tensors: a player's reach goes down, the other's values come up.

Everything is a tensor ``[boards, hands, lanes]`` of all hands that a board allows and all lines of a round. A showdown
is a product of matrices: a row of ``beats[boards, hands, hands]`` has 1 where the opponent's hand is weaker, -1 where
it is stronger and 0 where the two hands are equal or share a card.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from fogplay.simulators.holdem_lines import DEEPER, FOLDS
from fogplay.simulators.holdem_public import Lines
from fogplay.vectors import WIDTH


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
        self.goes_on = torch.from_numpy((ahead.T >= 0).astype(np.float32)).to(device)  # [ends, lanes]
        if not self.last:  # where the lanes of the next round come from, among [ends * lanes], and whether they do
            source = np.zeros(lines.lanes[0][street + 1].chunks * WIDTH, np.int64)
            place = ahead.T.reshape(-1)
            source[place[place >= 0]] = np.flatnonzero(place >= 0)
            used = np.bincount(place[place >= 0], minlength=len(source)) > 0
            self.source = torch.from_numpy(source).to(device)
            self.used = torch.from_numpy(used.astype(np.float32)).to(device)


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
                end = stage.to[action]
                self.worth[action] = onward[:, :, stage.onward[end]] * stage.goes_on[end]

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
