"""Any game as an environment of PettingZoo: ``env(game)`` is an AEC environment with action masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fogplay.bridges.sizes import encoded, mask_of, sizes_of
from fogplay.errors import FogplayError
from fogplay.play.luck import Seeded
from fogplay.play.table import Table
from fogplay.trees import named

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
except ImportError as missing:
    raise FogplayError("this needs PettingZoo: pip install 'fogplay[interop]'") from missing


class GameEnv(AECEnv):  # type: ignore[misc]
    """One hand of a game per episode; the agents are ``seat_0``, ``seat_1``, …

    A seat observes its infoset as bytes (``sizes.encoded``) with a mask of the actions that it may take: what the rules
    tell this player and nothing more. Between its decisions it keeps the observation of its last one, with an empty
    mask; before the first one it has zeros. Rewards come at the end, in the game's points.
    """

    def __init__(self, game: Any, size: int | None = None, render_mode: str | None = None) -> None:
        """``size`` is the length of observations, in bytes; by default that of the longest infoset's string."""
        super().__init__()
        self.game, self.spec_of_game = named(game)
        sizes = sizes_of(self.game)
        self.size, self.actions = size or sizes.bytes, sizes.actions
        self.metadata = {"name": self.spec_of_game, "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(int(self.game.num_players()))]
        self.agents: list[str] = []
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 255, (self.size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (self.actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: spaces.Discrete(self.actions) for agent in self.possible_agents}
        self._seeds = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a hand; the same seed deals the same one, and hands dealt without a seed follow from the last seed."""
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self.table = Table(self.game, Seeded(int(self._seeds.integers(1 << 62))))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, self.table.is_over)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._known = dict.fromkeys(self.agents, np.zeros(self.size, np.uint8))
        self.agent_selection = self.agents[0]
        self._next()

    def _next(self) -> None:
        """Turn to the next seat: note what it sees, or the scores if the hand is over."""
        if self.table.is_over:
            self.rewards = dict(zip(self.agents, self.table.scores, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            return
        seat = self.table.to_act[0]
        self.agent_selection = self.possible_agents[seat]
        self._known[self.agent_selection] = encoded(self.table.view(seat).infoset, self.size)

    def observe(self, agent: str) -> dict[str, Any]:
        acts = not self.table.is_over and agent == self.agent_selection
        legal = self.table.view(self._seat[agent]).legal if acts else ()
        return {"observation": self._known[agent].copy(), "action_mask": mask_of(legal, self.actions)}

    def step(self, action: int | None) -> None:
        """Take the action of ``agent_selection``; an illegal one raises, and nothing has changed."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.table.take(self._seat[agent], action)  # type: ignore[arg-type]
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._next()
        if self.table.is_over:
            self.agent_selection = self.agents[0]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """What the seat to act knows, as text."""
        if self.render_mode is None:
            return None
        if self.table.is_over:
            return f"the hand is over: {', '.join(f'{score:+g}' for score in self.table.scores)}"
        return f"{self.agent_selection}: {self.table.view(self.table.to_act[0]).infoset}"

    def close(self) -> None:
        """Nothing is open."""


def env(game: Any, size: int | None = None, render_mode: str | None = None) -> GameEnv:
    """An AEC environment of a game: its spec, or its rules."""
    return GameEnv(game, size, render_mode)
