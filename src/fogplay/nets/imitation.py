"""Learning from decisions of a search, or of anybody: policy, result and hidden cards, one network per seat.

The loss is that of AlphaZero and DeltaDou: C1 (z - v)² - π · log p + C2 ‖θ‖², with the cross-entropy of the kickers and
of the guess at hidden cards beside that of the heads. In z, what the search expected stands beside the result: few
games have few results, and networks learn them by heart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay.nets.answers import Answers, answers_of
from fogplay.nets.averages import Average
from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import Dense, bits_of
from fogplay.nets.distributions import FORBIDDEN, Layout, belief_loss, set_log_probability

CACHED = 512  # rows at a time on a CPU: 1,024 rows of ten blocks leave its cache and take 1.8 times as long
Evaluator = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]


class Rates(NamedTuple):
    """How to learn."""

    rate: float = 1e-3
    decay: float = 1e-4  # C2
    value: float = 1.0  # C1
    belief: float = 0.02
    expected: float = 0.5  # the weight in z of what the search expected; the rest is the result's
    batch: int = 4096
    norm: float = 1.0  # of gradients, at most
    warm: int = 10  # steps after a start or resumption until the rate is reached; an episode has about 100
    average: float = 0.99  # of the networks that play: what remains of it after a step


class Imitator:
    """The seats' networks and their optimiser."""

    def __init__(self, actors: Dense | Convolution, layout: Layout, rates: Rates, device: str) -> None:
        self.actors, self.layout, self.rates, self.device = actors.to(device), layout, rates, device
        trained = [array for array in actors.arrays.values() if array.requires_grad]
        self.optimisers = [torch.optim.AdamW(trained, lr=rates.rate, weight_decay=rates.decay, fused=device != "cpu")]
        actors.eval()
        self.average = Average(actors, rates.average)
        self.decisions, self.updates, self.warmed = 0, 0, 0
        self._answers: Answers | None = None
        self._loss: Any = torch.compile(self.loss) if device != "cpu" else self.loss

    @property
    def nets(self) -> tuple[Dense | Convolution, ...]:
        """All networks, in the order of the optimisers."""
        return (self.actors,)

    @property
    def players(self) -> Dense | Convolution:
        """The networks that play: the average of those that learn."""
        return self.average.net

    @property
    def averages(self) -> tuple[Average[Dense | Convolution], ...]:
        """All averages, in the order of the optimisers."""
        return (self.average,)

    def loss(
        self, seen: Tensor, legal: Tensor, heads: Tensor, shares: Tensor, choice: Tensor, sets: Tensor,
        results: Tensor, expected: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The loss on a batch ``[copies, rows, ...]`` of decisions, and what a log reports, ``[4, copies]``."""
        layout = self.layout
        outputs = self.actors(seen[..., : self.actors.shape.words])
        allowed = bits_of(legal)[..., : layout.heads] > 0
        logarithms = torch.log_softmax(torch.where(allowed, outputs[..., : layout.heads], FORBIDDEN), -1)
        policy = -(shares * logarithms.gather(-1, heads.long())).sum(-1)
        policy = policy - set_log_probability(outputs, choice, sets, layout)
        values = outputs[..., layout.values : layout.values + layout.results]
        goal = results.lerp(torch.where(expected.isnan(), results, expected), self.rates.expected)
        missed = _missed(values, goal)
        guess = belief_loss(outputs, seen, layout)
        each = policy + self.rates.value * missed + self.rates.belief * guess
        best = torch.where(allowed, outputs[..., : layout.heads], FORBIDDEN).argmax(-1)
        same = (best == heads.gather(-1, shares.argmax(-1, keepdim=True)).squeeze(-1)).float()
        report = torch.stack([part.mean(-1) for part in (policy, _missed(values, results), guess, same)])
        return each.mean(-1).sum(), report.detach()

    def learn(self, decisions: list[dict[str, Tensor]], steps: int) -> dict[str, Any]:
        """Make steps of the optimiser on random batches; ``decisions`` has the arrays of ``loss`` for every seat."""
        self.actors.train()
        reports = []
        for _ in range(steps):
            rows = [torch.randint(len(own["seen"]), (self.rates.batch,), device=self.device) for own in decisions]
            batch = {
                name: torch.stack([own[name][chosen] for own, chosen in zip(decisions, rows, strict=True)])
                for name in decisions[0]
            }
            self.warmed += 1
            self.updates += 1
            for group in self.optimisers[0].param_groups:
                group["lr"] = self.rates.rate * min(1.0, self.warmed / self.rates.warm)
            loss, report = self._loss(**batch)
            self.optimisers[0].zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.actors.parameters(), self.rates.norm)
            self.optimisers[0].step()
            self.average.add()
            reports.append(report)
        self.actors.eval()
        found = torch.stack(reports[-max(steps // 10, 1) :]).mean(0).cpu()
        return dict(zip(("policy", "missed", "belief", "same"), found.tolist(), strict=True))

    @torch.no_grad()
    def outputs(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """What a seat's network says, asked once."""
        there = torch.from_numpy(np.ascontiguousarray(seen)).to(self.device)
        parts = there.split(CACHED) if self.device == "cpu" and len(there) > CACHED else (there,)
        found: NDArray[np.float32] = torch.cat([self.players(part[None], seat)[0] for part in parts]).cpu().numpy()
        return found

    def evaluator(self) -> Evaluator:
        """The networks as they are now, for a search that asks often and from several threads."""
        if self.device == "cpu":
            return self.outputs
        if self._answers is None:
            self._answers = answers_of(self.players)
        self._answers.update()
        return self._answers


def _missed(values: Tensor, goal: Tensor) -> Tensor:
    """The squared error of the result, and a tenth of that of the points."""
    return (values[..., 0] - goal[..., 0]).square() + 0.1 * (values[..., 1] - goal[..., 1]).square()
