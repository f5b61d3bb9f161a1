"""Proximal policy optimisation in self-play: all games live beside the networks, and no search is made.

Every seat has a network that sees what the seat may see; a critic sees all cards. The lanes play ``steps`` moves, then
the networks learn from them and the moves are forgotten (Schulman et al. 2017). Advantages are counted along the whole
game, over the moves of all seats, from the first side's point of view; the other side's are the opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from fogplay.nets.averages import Average
from fogplay.nets.dense import Dense
from fogplay.nets.distributions import Layout, belief_loss, log_probability

SEATS = 3
JUDGED = 7  # steps of all lanes that the critic judges at once
RESULTS = 2  # won or lost, and points


class Settings(NamedTuple):
    """What a run is made with; rates and bonuses fall from the first number to the second."""

    size: int = 8192  # lanes per seat
    steps: int = 48  # moves per lane before the networks learn
    batch: int = 32768  # moves per seat in a step of the optimiser
    epochs: int = 1
    rate: tuple[float, float] = (5e-4, 2e-5)
    entropy: tuple[float, float] = (0.02, 0.002)
    decay: float = 0.95  # of advantages, per move: lambda
    clip: float = 0.2
    points: float = 0.5  # how much a point counts beside a won game
    value: float = 0.5  # the weight of the networks' own estimates in their loss
    belief: float = 0.02  # the weight of their guesses at hidden cards
    norm: float = 1.0  # of gradients, at most
    warm: int = 100  # steps of the optimiser after a start or resumption until the rate is reached
    average: float = 0.99  # of the networks that play afterwards: what remains of it when a round is added
    decisions: float = 4e9  # when rates and bonuses have fallen to their second numbers


@dataclass
class Moves:
    """What is kept of ``steps`` moves on every lane, seat by seat: ``[steps + 1, 3, size, ...]``."""

    seen: Tensor  # [..., words] int64
    legal: Tensor  # [..., words] int64
    playing: Tensor  # [...] bool
    choice: Tensor  # [..., 3] int32
    sets: Tensor  # [..., 2] int64
    results: Tensor  # [..., 3] float32
    logarithms: Tensor  # [...] float32

    @staticmethod
    def zeros(settings: Settings, lanes: Any, device: str) -> Moves:
        def new(*size: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((settings.steps + 1, SEATS, settings.size, *size), dtype=dtype, device=device)

        return Moves(
            new(lanes.open_words, dtype=torch.int64),
            new(lanes.legal_words, dtype=torch.int64),
            new(dtype=torch.bool),
            new(3, dtype=torch.int32),
            new(2, dtype=torch.int64),
            new(3, dtype=torch.float32),
            new(dtype=torch.float32),
        )


class Batch(NamedTuple):
    """What a step of the optimisers reads."""

    whole: tuple[Tensor, ...]  # [3, steps * size, ...] all moves, as ``actor_loss`` takes them
    side: Tensor  # [3] 1 for seats of the first side, -1 for the others
    rate: Tensor
    entropy: Tensor

    @staticmethod
    def zeros(settings: Settings, moves: Moves, device: str) -> Batch:
        def like(kept: Tensor, *size: int) -> Tensor:
            count = settings.steps * settings.size
            return torch.zeros((SEATS, count, *(size or kept.shape[3:])), dtype=kept.dtype, device=device)

        parts = (moves.seen, moves.legal, moves.choice, moves.sets, moves.logarithms)
        number = moves.logarithms
        return Batch(
            (*map(like, parts), like(number), like(number, RESULTS), like(number)),
            torch.tensor([1.0, -1.0, -1.0], device=device),
            torch.tensor(0.0, device=device),
            torch.tensor(0.0, device=device),
        )


class Learner:
    """The networks of a run, their optimisers, and the lanes that they play on."""

    def __init__(
        self, lanes: Any, actors: Dense, critic: Dense, layout: Layout, settings: Settings, device: str
    ) -> None:
        assert settings.steps % SEATS == 0
        self.lanes, self.layout, self.settings, self.device = lanes, layout, settings, device
        self.actors, self.critic = actors.to(device), critic.to(device)
        self.moves = Moves.zeros(settings, lanes, device)
        self.batch = Batch.zeros(settings, self.moves, device)
        gpu = device != "cpu"
        self.optimisers = [
            torch.optim.AdamW(net.parameters(), lr=self.batch.rate, fused=gpu) for net in (actors, critic)
        ]
        self.decisions, self.updates, self.warmed = 0, 0, 0
        self._average = Average(actors, settings.average)
        self._words = lanes.seen_words
        compiled: Any = torch.compile if device != "cpu" else lambda function: function
        self._act, self._judge = compiled(self._outputs), compiled(self._values)
        self._actor_loss, self._critic_loss = compiled(self.actor_loss), compiled(self.critic_loss)

    @property
    def nets(self) -> tuple[Dense, ...]:
        """All networks, in the order of the optimisers."""
        return self.actors, self.critic

    @property
    def averages(self) -> tuple[None, None]:
        """No average is part of a run's state."""
        return None, None

    @property
    def players(self) -> Dense:
        """The seats' networks for play: an average of the last rounds, which begins anew after a resumption."""
        return self._average.net if self._average.added else self.actors

    # ---- Play

    def _outputs(self, seen: Tensor) -> Tensor:
        return self.actors(seen[..., : self._words])

    def _values(self, seen: Tensor) -> Tensor:
        return self.critic(seen.flatten(0, -2).unsqueeze(0)).squeeze(0)[:, :RESULTS]

    @torch.no_grad()
    def play(self) -> None:
        """Fill ``moves``: ``steps`` moves on every lane, and what is seen after them."""
        moves, raw = self.moves, (lambda tensor: tensor) if self.device != "cpu" else (lambda tensor: tensor.numpy())
        for step in range(self.settings.steps + 1):
            self.lanes.observe(step, raw(moves.seen[step]), raw(moves.legal[step]), raw(moves.playing[step]))
            if step == self.settings.steps:
                break
            outputs = self._act(moves.seen[step])
            kept = (moves.choice[step], moves.sets[step], moves.results[step], moves.logarithms[step])
            self.lanes.move(step, raw(outputs), raw(moves.legal[step]), 1.0, *map(raw, kept))

    @torch.no_grad()
    def advantages(self) -> tuple[Tensor, Tensor]:
        """How much better the moves were than expected and what they led to, ``[steps, 3, size, 2]`` each.

        Both are from the point of view of the first seat's side.
        """
        steps, decay, moves = self.settings.steps, self.settings.decay, self.moves
        values = torch.cat([self._judge(seen).unflatten(0, seen.shape[:3]) for seen in moves.seen.split(JUDGED)])
        order = (torch.arange(steps + 1)[:, None] + torch.arange(SEATS)) % SEATS
        rows = torch.arange(steps + 1)[:, None]
        by_lane, results = values[rows, order], moves.results[rows, order]
        playing, ahead = moves.playing[rows, order], torch.zeros_like(by_lane[0])
        found = torch.zeros_like(by_lane[:-1])
        for step in reversed(range(steps)):
            goes_on = 1.0 - results[step, ..., 2:]
            surprise = results[step, ..., :RESULTS] + goes_on * by_lane[step + 1] - by_lane[step]
            ahead = torch.where(playing[step].unsqueeze(-1), surprise + decay * goes_on * ahead, 0.0)
            found[step] = ahead
        back = (torch.arange(SEATS) - torch.arange(steps)[:, None]) % SEATS
        by_seat = found[rows[:-1], back]
        return by_seat, by_seat + values[:-1]

    # ---- Learn

    def actor_loss(
        self, seen: Tensor, legal: Tensor, choice: Tensor, sets: Tensor, old: Tensor, gain: Tensor, goal: Tensor,
        weight: Tensor, entropy: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The loss of the seats' networks on a batch ``[3, batch, ...]``, and what a log reports."""
        outputs = self.actors(seen[..., : self._words])
        logarithm, spread = log_probability(outputs, legal, choice, sets, self.layout)
        ratio = (logarithm - old).clamp(-10.0, 10.0).exp()
        clip = self.settings.clip
        won = torch.minimum(ratio * gain, ratio.clamp(1.0 - clip, 1.0 + clip) * gain)
        values = outputs[..., self.layout.values : self.layout.values + RESULTS]
        missed = (values[..., 0] - goal[..., 0]).square() + 0.1 * (values[..., 1] - goal[..., 1]).square()
        guess = belief_loss(outputs, seen, self.layout)
        each = -won - entropy * spread + self.settings.value * missed + self.settings.belief * guess
        count = weight.sum(-1).clamp(min=1.0)
        report = torch.stack([(part * weight).sum(-1) / count for part in (spread, missed, old - logarithm, guess)])
        return ((each * weight).sum(-1) / count).sum(), report.detach()

    def critic_loss(self, seen: Tensor, goal: Tensor, weight: Tensor) -> Tensor:
        """The mean squared error of the critic."""
        values = self._values(seen).unflatten(0, goal.shape[:-1])
        missed = (values - goal).square()
        return ((missed[..., 0] + 0.1 * missed[..., 1]) * weight).sum() / weight.sum().clamp(min=1.0)

    def learn(self) -> dict[str, Any]:
        """Improve the networks by ``moves``; return what a log reports."""
        settings, moves = self.settings, self.moves
        advantages, goals = self.advantages()
        gains = (advantages[..., 0] + settings.points * advantages[..., 1]) * self.batch.side[:, None]
        weights = moves.playing[:-1].float()
        count = weights.sum((0, 2), keepdim=True)
        mean = (gains * weights).sum((0, 2), keepdim=True) / count
        spread = (((gains - mean).square() * weights).sum((0, 2), keepdim=True) / count).sqrt()
        gains = (gains - mean) / (spread + 1e-6)

        parts = (moves.seen, moves.legal, moves.choice, moves.sets, moves.logarithms, gains, goals, weights)
        for whole, part in zip(self.batch.whole, parts, strict=True):
            whole.copy_(part[: settings.steps].transpose(0, 1).flatten(1, 2))
        fraction = min(self.decisions / settings.decisions, 1.0)
        self.batch.entropy.fill_(_falling(settings.entropy, fraction))
        reports = []
        for _ in range(settings.epochs):
            order = torch.randperm(settings.steps * settings.size, device=self.device)
            for chosen in order.split(settings.batch):
                reports.append(self._update(chosen, _falling(settings.rate, fraction)))
        self._average.add()
        self.decisions += int(weights.sum())
        report = torch.stack(reports).mean(0).cpu()
        over = moves.results[:-1, :, :, 2].sum()
        won = (moves.results[:-1, :, :, 0] > 0).sum()
        return {
            "decisions": self.decisions,
            "games": int(over),
            "moves": float(weights.sum() / over.clamp(min=1)),
            "first_side": float(won / over.clamp(min=1)),
            "points": float(moves.results[:-1, :, :, 1].abs().sum() / over.clamp(min=1)),
            "entropy": report[0].tolist(),
            "missed": report[1].tolist(),
            "shift": report[2].tolist(),
            "belief": report[3].tolist(),
            "spread": spread.flatten().tolist(),
        }

    def _update(self, chosen: Tensor, rate: float) -> Tensor:
        """One step of the optimisers on the chosen moves of every seat; return what a log reports."""
        self.updates += 1
        self.warmed += 1
        batch = self.batch
        batch.rate.fill_(rate * min(1.0, self.warmed / self.settings.warm))
        seen, legal, choice, sets, old, gain, goal, weight = (part[:, chosen] for part in batch.whole)
        own = goal * batch.side[:, None, None]
        loss, report = self._actor_loss(seen, legal, choice, sets, old, gain, own, weight, batch.entropy)
        missed = self._critic_loss(seen, goal, weight)
        for optimiser, each, net in zip(self.optimisers, (loss, missed), self.nets, strict=True):
            optimiser.zero_grad(set_to_none=True)
            each.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), self.settings.norm)
            optimiser.step()
        return report


def _falling(ends: tuple[float, float], fraction: float) -> float:
    """A number that falls by the same factor in equal times."""
    first, last = ends
    return float(first * (last / first) ** fraction)
