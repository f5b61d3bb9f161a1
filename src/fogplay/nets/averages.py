"""Averages of networks over the steps of their learning: less noisy than the newest, so they play and are judged."""

from __future__ import annotations

import copy
from typing import Generic, TypeVar

import torch
from torch import nn

Net = TypeVar("Net", bound=nn.Module)

SOON = 10.0  # the first additions count like so many, so that an average forgets where networks began


class Average(Generic[Net]):
    """The average of a module's parameters; ``keep`` is what remains of it when the newest are added."""

    def __init__(self, newest: Net, keep: float) -> None:
        self.newest, self.keep, self.added = newest, keep, 0
        self.net = copy.deepcopy(newest).requires_grad_(False).eval()

    def add(self) -> None:
        """Add the module as it is now."""
        self.added += 1
        share = max(1.0 - self.keep, min(1.0, SOON / (SOON - 1.0 + self.added)))
        with torch.no_grad():
            for mean, newest in zip(self.net.parameters(), self.newest.parameters(), strict=True):
                mean.lerp_(newest, share)
