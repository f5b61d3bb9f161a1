"""From what a user types to players: a profile's file or a bot's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fogplay import storage
from fogplay.agents.match import SMALLEST_GRID, with_grid
from fogplay.bots.holdem import BOTS, TRAINED, bot, trained
from fogplay.errors import FogplayError, did_you_mean
from fogplay.games.holdem import Holdem
from fogplay.strategies.betting import BettingStrategy, betting_of
from fogplay.strategies.policy import BettingPolicy, policy_of


def policies(agents: Sequence[str], rules: Holdem) -> list[BettingPolicy]:
    """A policy for each agent; the same file or bot twice is the same policy."""
    found: dict[str, BettingPolicy] = {}
    for agent in agents:  # profiles first, so that bots need no betting tree of their own
        if agent in TRAINED and agent not in found:
            found[agent] = trained(agent, rules)
        elif agent not in BOTS and agent not in found:
            found[agent] = policy_of(_profile(agent), rules)
    betting = next((policy.betting for policy in found.values()), None)
    for agent in agents:
        if agent not in found:
            betting = betting or betting_of(str(with_grid(rules, SMALLEST_GRID)))
            found[agent] = bot(agent, rules, betting)
    return [found[agent] for agent in agents]


def require_agent(agent: str) -> None:
    """Refuse what is neither a bot nor a file that may hold a profile."""
    if agent in BOTS:
        return
    wanted = f"an agent is a saved profile of hold'em or a bot: {', '.join(BOTS)}"
    if not Path(agent).exists():
        raise FogplayError(f"there is no file {agent}; {did_you_mean(agent, BOTS)}{wanted}")
    if storage.kind_of(agent) == "strategy":
        raise FogplayError(f"{agent} holds a strategy, not a profile: it is for another game; {wanted}")


def _profile(agent: str) -> BettingStrategy:
    require_agent(agent)
    try:
        return BettingStrategy.read(agent)
    except FogplayError as error:
        raise FogplayError(f"{agent}: {error}" if agent not in str(error) else str(error)) from error
