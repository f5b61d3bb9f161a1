"""Duplicate matches: known results, the compiled loop beside the plain one, seats that cancel."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from fogplay.agents import match, resolve
from fogplay.bots.holdem import bot
from fogplay.errors import FogplayError
from fogplay.games.limit import CALL, FOLD, RAISE
from fogplay.games.registry import load
from fogplay.opponents import log_lines
from fogplay.play import Dealt, Duplicate, MatchResult, Rotation, View, format_for, play_hand
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.simulators.holdem_duplicate import BLOCK
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import policy_of
from tests.play.helpers import Plain

TWO = "holdem"
THREE = "holdem(players=3,max_raises=[2,1,1,1])"


def random_profile(spec: str, grid: str, seed: int, greedy: bool = False) -> BettingStrategy:
    simulated = HoldemSimulator.of(
        spec.replace("holdem(", f"holdem(grid={grid},") if "(" in spec else f"{spec}(grid={grid})"
    )
    weights = np.random.default_rng(seed).exponential(size=simulated.num_slots)
    return BettingStrategy.of(simulated.rules, simulated.betting, weights=weights, greedy=greedy, method="random")


def deals_of(played: MatchResult) -> list[list[int]]:
    """The cards of every deal of a match, the board first."""
    source = format_for(load(played.game)).source  # type: ignore[attr-defined]
    return [source.cards(played.seed, number)[0] for number in range(played.deals)]


def test_the_format_of_a_game() -> None:
    two, three = format_for(load(TWO)), format_for(load(THREE))
    assert isinstance(two, Duplicate)
    assert (two.unit, two.scale, two.deals(7)) == ("mb/h", 100.0, 4)
    assert sorted(two.seatings(0)) == [(0, 1), (1, 0)]
    assert sorted(three.seatings(5)) == sorted(itertools.permutations(range(3)))
    small = load("holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])")
    assert isinstance(format_for(small), Rotation)
    assert isinstance(format_for(load("kuhn")), Rotation)


def test_folding_costs_the_blinds() -> None:
    for other in ("always-raise",):
        played = match(TWO, ["always-fold", other], 3000)
        assert played.means == (-750.0, 750.0)  # 5 chips as small blind, 10 as big blind
        assert played.standard_errors == (0.0, 0.0)
        assert played.totals == (-7.5 * 3000, 7.5 * 3000)
    three = match(THREE, ["always-fold", "always-fold", "always-raise"], 600)
    # The raiser takes both blinds, 15 from the button, else what the other one posted.
    assert three.means == pytest.approx((-500 * (5 + 10) / 15, -500 * (5 + 10) / 15, 1000))
    assert sum(three.totals) == 0


def test_duplicates_cancel() -> None:
    """What cards decide alone comes out at nothing, whoever plays it."""
    played = match(TWO, ["always-call", "always-raise"], 2000)
    assert played.means == (0.0, 0.0)
    assert played.standard_errors == (0.0, 0.0)
    even = match(TWO, ["always-call", "always-call"], 2000, keep=True)
    assert even.totals == (0.0, 0.0)


@pytest.mark.parametrize(("spec", "grid"), [(TWO, "ehs:10/10/10/10"), (THREE, "ehs:4/4/4/4")])
def test_identical_players_win_nothing(spec: str, grid: str) -> None:
    """Mixed strategies too: luck in drawing actions is dealt like cards."""
    rules = load(spec)
    mixed = policy_of(random_profile(spec, grid, 1), rules)
    played = match(rules, [mixed] * rules.players, 3000)
    assert played.totals == (0.0,) * rules.players
    assert played.standard_errors == (0.0,) * rules.players


@pytest.mark.parametrize(
    ("spec", "grids"),
    [(TWO, ["ehs:10/10/10/10", "ehs2:169/50/40/30"]), (THREE, ["ehs:4/4/4/4", "ehs2-percentile:5/5/5/5"])],
)
def test_compiled_and_plain_agree(spec: str, grids: list[str]) -> None:
    rules = load(spec)
    players: list[Any] = [random_profile(spec, grid, seed) for seed, grid in enumerate(grids)]
    if rules.players == 3:
        players.append(bot("rules", rules, players[0].betting))
    names = [f"p{number}" for number in range(rules.players)]
    fast = match(rules, players, 240, seed=5, keep=True, names=names)
    slow = match(rules, [Plain(player) for player in players], 240, seed=5, keep=True, names=names)
    one = match(rules, [Plain(players[0]), *players[1:]], 240, seed=5, keep=True, names=names)
    assert fast.totals == slow.totals == one.totals
    assert fast.totals != (0.0,) * rules.players
    assert fast.means == slow.means
    assert fast.standard_errors == slow.standard_errors
    assert fast.ends is not None
    assert slow.ends is not None
    assert (fast.ends == slow.ends).all()
    assert len(np.unique(fast.ends)) > 20
    assert list(log_lines(fast)) == list(log_lines(slow)) == list(log_lines(one))


def test_errors_are_those_of_the_deals() -> None:
    """Against a loop over deals, and against the spread of many small matches."""
    played = match(TWO, ["rules", "probe"], 4000, seed=1)
    agents = resolve(["rules", "probe"], load(TWO))
    means = [match(TWO, agents, 400, seed=seed).means[0] for seed in range(60)]
    spread = np.std(means, ddof=1)
    assert played.standard_errors[0] * np.sqrt(10) == pytest.approx(spread, rel=0.3)
    assert abs(np.mean(means) - played.means[0]) < 4 * played.standard_errors[0]
    low, high = played.interval(0)
    assert high - low == pytest.approx(2 * 1.959964 * played.standard_errors[0])


def test_swapped_players_swap_results() -> None:
    first, second = match(TWO, ["rules", "sparring"], 5000), match(TWO, ["sparring", "rules"], 5000)
    assert first.totals == second.totals[::-1]
    three = match(THREE, ["rules", "probe", "always-call"], 3000)
    turned = match(THREE, ["probe", "always-call", "rules"], 3000)
    assert three.totals == (turned.totals[2], turned.totals[0], turned.totals[1])


def test_a_seed_and_a_number_name_a_deal() -> None:
    long = match(TWO, ["rules", "probe"], 2 * (2 * BLOCK + 100), seed=3, keep=True)
    short = match(TWO, ["rules", "probe"], 2 * (BLOCK + 7), seed=3, keep=True)
    again = match(TWO, ["rules", "probe"], 2 * (BLOCK + 7), seed=3)
    other = match(TWO, ["rules", "probe"], 2 * (BLOCK + 7), seed=4)
    assert long.ends is not None
    assert short.ends is not None
    assert (long.ends[: BLOCK + 7] == short.ends).all()
    assert again.totals == short.totals != other.totals
    cards = np.array(list(deals_of(long)))
    assert (np.sort(cards, axis=1)[:, 1:] != np.sort(cards, axis=1)[:, :-1]).all()
    assert len(np.unique(cards, axis=0)) == len(cards)


def test_every_card_is_dealt_alike() -> None:
    cards = np.array(list(deals_of(match(TWO, ["probe", "probe"], 40_000, seed=2))))
    for place in range(cards.shape[1]):
        counts = np.bincount(cards[:, place], minlength=52)
        assert ((counts - len(cards) / 52) ** 2 / (len(cards) / 52)).sum() < 95  # 51 degrees, once in several thousand


def test_hands_are_rounded_up_to_deals() -> None:
    assert match(TWO, ["probe", "probe"], 7).hands == 8
    assert match(THREE, ["probe", "probe", "probe"], 7).hands == 12
    one = match(TWO, ["rules", "probe"], 1)
    assert one.hands == 2
    assert np.isnan(one.standard_errors[0])


def test_agents_see_their_own_cards_alone() -> None:
    seen: list[View] = []

    class Watcher:
        def act(self, view: View) -> int:
            assert 0 <= view.luck < 1
            seen.append(view)
            return CALL

    rules = load(TWO)
    moves = [50, 51, 48, 49, 0, 1, 2, 3, 4]
    end = play_hand(rules, Dealt(moves, [0.5] * 30), [Watcher(), Watcher()])
    told = [view.observation for view in seen]
    assert len(seen) == 8
    assert {each.hole for each in told if each.seat == 0} == {(50, 51)}
    assert {each.hole for each in told if each.seat == 1} == {(48, 49)}
    assert [each.board for each in told if each.seat == 0] == [(), (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3, 4)]
    assert told[0].pot == 15
    assert told[0].to_call == 5
    assert seen[0].legal == (FOLD, CALL, RAISE)
    assert seen[0].names == ("fold", "call", "raise")
    assert [event.action for event in end.events if event.seat >= 0] == [CALL] * 8


def test_illegal_answers_are_named() -> None:
    class Wrong:
        def act(self, view: View) -> int:
            return 7

    with pytest.raises(FogplayError, match=r"wrong-2 answered 7, which is not possible here; it may 0 \(fold\)"):
        match(TWO, [Wrong(), Wrong()], 2)


def test_ctrl_c_keeps_what_was_played() -> None:
    def stop(done: int, _: int) -> None:
        if done >= 2 * BLOCK:
            raise KeyboardInterrupt

    played = match(TWO, ["rules", "probe"], 10**6, progress=stop, keep=True)
    assert played.interrupted
    assert played.hands == 2 * BLOCK
    assert played.ends is not None
    assert len(played.ends) == BLOCK
    assert played.totals == match(TWO, ["rules", "probe"], 2 * BLOCK).totals


def test_ctrl_c_in_the_middle_of_a_block() -> None:
    """Agents that take their time lose the hand under way at most."""

    class Tired:
        acted = 0

        def act(self, view: View) -> int:
            self.acted += 1
            if self.acted == 100:
                raise KeyboardInterrupt
            return CALL

    played = match(TWO, [Tired(), "rules"], 1000)
    assert played.interrupted
    assert 2 < played.deals < 50
    whole = match(TWO, ["always-call", "rules"], played.hands)
    assert played.totals == whole.totals
    early = Tired()
    early.acted = 98
    with pytest.raises(KeyboardInterrupt):
        match(TWO, [early, "rules"], 1000)


@pytest.mark.parametrize(
    ("spec", "agents", "options", "said"),
    [
        (TWO, ["probe"], {}, "for 2 players; 1 agents were named"),
        (TWO, ["probe", "probe"], {"hands": 0}, "hands must be"),
        (TWO, ["probe", "probe"], {"seed": -1}, "seed must be"),
        (TWO, ["probe", "probe"], {"hands": 10**9, "keep": True}, "at most 100,000,000 hands can be kept"),
    ],
)
def test_mistakes(spec: str, agents: list[str], options: dict[str, Any], said: str) -> None:
    with pytest.raises(FogplayError, match=said):
        match(spec, agents, **{"hands": 10, **options})
