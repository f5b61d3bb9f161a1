"""One seat of any game against fixed agents, as an environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fogplay.agents import resolve
from fogplay.bridges.sizes import encoded, mask_of, sizes_of
from fogplay.checks import whole
from fogplay.errors import FogplayError
from fogplay.play.agent import begin
from fogplay.play.luck import Seeded
from fogplay.play.table import Table
from fogplay.trees import named

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as missing:
    raise FogplayError("this needs Gymnasium: pip install 'fogplay[interop]'") from missing


class SeatEnv(gymnasium.Env):  # type: ignore[misc]
    """One hand per episode at ``seat``; the reward comes at the end, in the game's points.

    Observations are as in ``bridges.pettingzoo``: the infoset's bytes and a mask of legal actions, which is also in
    ``info["action_mask"]``. For an illegal action the first legal one is taken, and ``info["illegal"]`` says so.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 (as the base class has it)

    def __init__(
        self,
        game: Any,
        against: Any = "uniform",
        seat: int = 0,
        size: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """``against`` is an agent (a strategy, a bot's name, ``search:…``), or a list with one for each other seat."""
        self.game, self.spec_of_game = named(game)
        players = int(self.game.num_players())
        self.seat = whole("seat", seat, 0, players - 1)
        many = isinstance(against, Sequence) and not isinstance(against, str)
        others = list(against) if many else [against] * (players - 1)
        if len(others) != players - 1:
            raise FogplayError(f"against must name {players - 1} agents, one for each other seat, not {len(others)}")
        found = [resolve([each], self.game)[0] if isinstance(each, str) else each for each in others]
        self.agents = dict(zip([other for other in range(players) if other != self.seat], found, strict=True))
        sizes = sizes_of(self.game)
        self.size, self.actions, self.render_mode = size or sizes.bytes, sizes.actions, render_mode
        self.action_space = spaces.Discrete(self.actions)
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0, 255, (self.size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (self.actions,), np.int8),
            }
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
        """Deal a hand in which this seat has a decision to make."""
        super().reset(seed=seed)
        while True:
            dealt = int(self.np_random.integers(1 << 62))
            self.table = Table(self.game, Seeded(dealt))
            for other, agent in self.agents.items():
                begin(agent, self.game, other, dealt + other)
            self._others_act()
            if not self.table.is_over:
                return self._seen(), self._info()

    def _others_act(self) -> None:
        """Let the other seats act until this one is to act or the hand is over."""
        while not self.table.is_over and self.seat not in self.table.to_act:
            other = self.table.to_act[0]
            self.table.take(other, self.agents[other].act(self.table.view(other)))

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        if self.table.is_over:
            raise FogplayError("the hand is over; call reset()")
        legal = self.table.view(self.seat).legal
        illegal = int(action) not in legal
        self.last = self._seen()["observation"]
        self.table.take(self.seat, legal[0] if illegal else int(action))
        self._others_act()
        over = self.table.is_over
        reward = self.table.scores[self.seat] if over else 0.0
        return self._seen(), reward, over, False, self._info() | ({"illegal": True} if illegal else {})

    def _legal(self) -> tuple[int, ...]:
        return () if self.table.is_over else self.table.view(self.seat).legal

    def _seen(self) -> dict[str, Any]:
        """What this seat knows; at the end, what it knew at its last decision."""
        over = self.table.is_over
        known = self.last if over else encoded(self.table.view(self.seat).infoset, self.size)
        return {"observation": known, "action_mask": mask_of(self._legal(), self.actions)}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": mask_of(self._legal(), self.actions)}

    def render(self) -> str | None:
        """What this seat knows, as text."""
        if self.render_mode is None:
            return None
        if self.table.is_over:
            return f"the hand is over: {self.table.scores[self.seat]:+g}"
        return self.table.view(self.seat).infoset
