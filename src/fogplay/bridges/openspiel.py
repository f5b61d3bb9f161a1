"""OpenSpiel, both ways: our games, strategies and agents as its own, and its policies as our strategies.

Its games need no bridge: ``load("pyspiel:NAME")`` makes one of them a game like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fogplay.agents import resolve
from fogplay.bridges.sizes import Sizes, sizes_of
from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.registry import load, turn_based
from fogplay.play.agent import begin
from fogplay.play.states import infoset_of
from fogplay.play.view import View
from fogplay.strategies import TabularStrategy
from fogplay.trees import flatten, named

try:
    import pyspiel
except ImportError as missing:
    raise FogplayError("this needs OpenSpiel: pip install open_spiel") from missing

NAME = "python_fogplay"  # of all our games together: pyspiel.load_game(NAME, {"game": spec})
LONGEST = 100_000  # moves of a game that is too large to visit
DEFAULT = "matrix"


class _Held:
    """A state of ours inside one of theirs: immutable, so that copies share it."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state

    def __deepcopy__(self, _: Any) -> _Held:
        return self


class FogplayState(pyspiel.State):  # type: ignore[misc]
    """A state of OpenSpiel's that plays by our rules; ``held.state`` is ours."""

    def __init__(self, game: FogplayGame) -> None:
        super().__init__(game)
        self.held = _Held(game.rules.new_initial_state())

    def current_player(self) -> int:
        player: int = self.held.state.current_player()
        if player == TERMINAL:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if player == CHANCE else player

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in self.held.state.legal_actions()]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(int(outcome), float(likely)) for outcome, likely in self.held.state.chance_outcomes()]

    def _apply_action(self, action: int) -> None:
        self.held = _Held(self.held.state.child(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return str(self.held.state.action_to_string(player, action))

    def is_terminal(self) -> bool:
        return bool(self.held.state.current_player() == TERMINAL)

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self.get_game().num_players()
        return [float(each) for each in self.held.state.returns()]

    def __str__(self) -> str:
        return f"{self.get_game().get_parameters().get('game', '')}: {self.history_str()}"


class _Observer:
    """What a player knows, as the infoset's string; empty where another player is to act."""

    def __init__(self) -> None:
        self.tensor = np.zeros(0, np.float32)
        self.dict: dict[str, Any] = {}

    def set_from(self, state: FogplayState, player: int) -> None:
        """There are no tensors."""

    def string_from(self, state: FogplayState, player: int) -> str:
        return infoset_of(state.held.state, player) if state.current_player() == player else ""


class FogplayGame(pyspiel.Game):  # type: ignore[misc]
    """One of our games as a Python game of OpenSpiel's; ``rules`` is ours."""

    def __init__(self, params: Mapping[str, Any] | None = None, rules: Any = None) -> None:
        spec = str((params or {}).get("game", DEFAULT))
        self.rules = load(spec) if rules is None else rules
        sizes = sizes_of(self.rules)
        players = int(self.rules.num_players())
        info = pyspiel.GameInfo(
            num_distinct_actions=sizes.actions,
            max_chance_outcomes=sizes.outcomes,
            num_players=players,
            min_utility=sizes.low,
            max_utility=sizes.high,
            utility_sum=sizes.total,
            max_game_length=_longest(self.rules, sizes),
        )
        super().__init__(_type(players, sizes), info, {"game": spec})

    def new_initial_state(self, *_: Any) -> FogplayState:
        return FogplayState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        return _Observer()


def _longest(rules: Any, sizes: Sizes) -> int:
    """The most moves of a hand, without chance's: a bound, if the game is too large to visit."""
    if sizes.visited:
        return sizes.moves
    return int(rules.max_game_length()) if hasattr(rules, "max_game_length") else LONGEST


def _type(players: int | None, sizes: Sizes | None) -> Any:
    """The type of one game, or of all of them."""
    kinds = pyspiel.GameType
    chance = sizes is None or sizes.outcomes > 0
    if sizes is None or sizes.total is None or not sizes.visited:
        utility = kinds.Utility.GENERAL_SUM
    else:
        utility = kinds.Utility.ZERO_SUM if abs(sizes.total) <= 1e-9 else kinds.Utility.CONSTANT_SUM
    return kinds(
        short_name=NAME,
        long_name="A game of fogplay",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if chance else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=players or 127,
        min_num_players=players or 1,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={"game": DEFAULT},
    )


if NAME not in pyspiel.registered_names():
    pyspiel.register_game(_type(None, None), FogplayGame)


def to_game(game: Any) -> Any:
    """A game of ours (its spec, or its rules) as one of OpenSpiel's; one that is OpenSpiel's is returned as it is."""
    rules, spec = named(game)
    if type(rules).__module__.startswith("pyspiel") or isinstance(rules, FogplayGame):
        return rules
    return FogplayGame({"game": spec}, rules)


def to_policy(strategy: TabularStrategy, game: Any = None) -> Any:
    """A strategy as OpenSpiel's ``TabularPolicy`` on ``to_game`` of its game, or of ``game``."""
    from open_spiel.python.policy import TabularPolicy

    theirs = to_game(strategy.game if game is None else game)
    policy = TabularPolicy(theirs)
    for infoset, row in policy.state_lookup.items():
        if infoset not in strategy:
            raise FogplayError(f"this strategy is for {strategy.game}, not for {theirs}: it has no infoset {infoset!r}")
        probabilities = strategy.probabilities[strategy.slots(infoset)]
        policy.action_probability_array[row] = 0.0
        policy.action_probability_array[row, np.flatnonzero(policy.legal_actions_mask[row])] = probabilities
    return policy


def from_policy(policy: Any, game: Any = None, method: str | None = None) -> TabularStrategy:
    """A policy of OpenSpiel's, in Python or in C++, as a strategy of ours.

    ``game`` is the game that the policy is for: one of theirs, of ours (then the policy is one for ``to_game(game)``),
    or by default the policy's own.
    """
    theirs = to_game(policy.game if game is None else game)
    ours = theirs.rules if isinstance(theirs, FogplayGame) else turn_based(theirs)
    flat = flatten(ours)
    probabilities = np.full(flat.num_slots, np.nan)
    stack = [theirs.new_initial_state()]
    while stack:
        state = stack.pop()
        player = state.current_player()
        if state.is_terminal():
            continue
        if player >= 0:
            where = flat.slots(flat.infoset_number(state.information_state_string(player)))
            if np.isnan(probabilities[where.start]):
                found = dict(policy.action_probabilities(state))
                probabilities[where] = [found.get(action, 0.0) for action in state.legal_actions()]
        stack += [state.child(action) for action in state.legal_actions()]
    return TabularStrategy.of(flat, probabilities, method or f"OpenSpiel's {type(policy).__name__}")


class Bot(pyspiel.Bot):  # type: ignore[misc]
    """An agent of ours at a table of OpenSpiel's: a strategy, a bot's name, ``search:…``, or anything with ``act``."""

    def __init__(self, game: Any, player: int, agent: Any, seed: int = 0) -> None:
        """``game`` is one of theirs, or of ours as ``to_game`` makes it."""
        pyspiel.Bot.__init__(self)
        self.game = to_game(game)
        self.player, self.seed = player, seed
        self.rules = self.game.rules if isinstance(self.game, FogplayGame) else self.game
        self.agent = resolve([agent], self.rules)[0] if isinstance(agent, str) else agent
        self.rng = np.random.default_rng(seed)
        self.restart()

    def player_id(self) -> int:
        return self.player

    def restart(self) -> None:
        begin(self.agent, self.rules, self.player, int(self.rng.integers(1 << 62)))

    def restart_at(self, state: Any) -> None:
        self.restart()

    def provides_policy(self) -> bool:
        return hasattr(self.agent, "distribution")

    def step(self, state: Any) -> int:
        return int(self.agent.act(self._view(state)))

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        view = self._view(state)
        return list(zip(view.legal, self.agent.distribution(view), strict=True))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        return self.get_policy(state), self.step(state)

    def _view(self, state: Any) -> View:
        """What the agent may know: the state itself stays hidden behind functions."""
        inner = state.held.state if isinstance(state, FogplayState) else state
        player, rules = self.player, self.rules
        legal = tuple(int(action) for action in state.legal_actions(player))
        memory = _memory(rules, state.history(), player)
        return View(
            seat=player,
            legal=legal,
            luck=float(self.rng.random()),
            infoset=lambda: infoset_of(inner, player),
            names=lambda: tuple(str(inner.action_to_string(player, action)) for action in legal),
            observation=lambda: inner.observation(player) if hasattr(inner, "observation") else None,
            memory=memory,
            world=lambda rng, doubt: _world(rules, inner, player, memory(), rng, doubt),
            game=rules,
        )


def _memory(rules: Any, history: list[int], player: int) -> Callable[[], Any]:
    """A player's own earlier decisions, found by playing the history again."""

    def recall() -> Any:
        state, found = rules.new_initial_state(), []
        for action in history:
            if state.current_player() == player:
                found.append((infoset_of(state, player), int(action)))
            state = state.child(action)
        return tuple(found)

    return recall


def _world(rules: Any, state: Any, player: int, memory: Any, rng: np.random.Generator, doubt: bool) -> Any:
    from fogplay.play.worlds import draw_world

    return draw_world(rules, state, player, memory, rng, doubt)
