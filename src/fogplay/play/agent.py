"""``Agent``: anything that can act on a view. Every strategy is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.play.view import View
from fogplay.strategies.strategy import Situation, drawn
from fogplay.trees import FlatGame


class Agent(Protocol):
    """A player: a strategy, a bot, a search, a human.

    An agent with a memory of its own may also define ``begin(game, seat, seed)``, which is called before every hand.
    One that builds something slow once may define ``prepare(progress)``, which is called before the first.
    """

    def act(self, view: View) -> int:
        """One of ``view.legal``.

        ``view.luck`` is a random number from [0, 1), the same in every seating of a duplicate deal. Agents that draw
        their actions with it play reproducible matches with less noise.
        """


class Uniform:
    """Takes every legal action with the same probability, in any game."""

    def distribution(self, view: Situation) -> list[float]:
        return [1.0 / len(view.legal)] * len(view.legal)

    def act(self, view: Situation) -> int:
        return drawn(self.distribution(view), view.luck, view.legal)

    def on(self, flat: FlatGame) -> NDArray[np.float64]:
        """[slots] the same probabilities as an array."""
        return flat.uniform()


def prepare(agent: Any, progress: Callable[[str, int, int], None]) -> None:
    """Let an agent build what it needs once; ``progress`` is told what, how much is done, of how much."""
    hook = getattr(agent, "prepare", None)
    if hook is not None:
        hook(progress)


def begin(agent: Any, game: Any, seat: int, seed: int) -> None:
    """Call an agent's ``begin`` at the start of a hand, if it has one."""
    hook = getattr(agent, "begin", None)
    if hook is not None:
        hook(game, seat, seed)
