"""Hold'em as a simulator: the same game as the rules and, with small decks, as the flattened tree."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.cards.deck import cards_name
from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.evaluate.exact import best_response
from fogplay.games import load
from fogplay.jit import kernel
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.simulators.holdem import HoldemGame, HoldemSimulator
from fogplay.simulators.holdem_cards import look_up_exact
from fogplay.simulators.policies import ByPlayer, explore
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.restricted import DataBiased, RestrictedNash
from fogplay.simulators.streams import draw, streams
from fogplay.solvers import solve
from fogplay.solvers.sampling import SelfPlay
from fogplay.trees import FlatGame, flatten
from fogplay.trees.betting import child_after
from fogplay.trees.restrict import data_biased
from tests.helpers import random_probabilities
from tests.simulators.tree_slots import tree_slots

LEDUC = "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1],max_raises=[1,2])"
SMALL = [
    LEDUC,
    "holdem(rounds=2,ranks=2,suits=3,board=[0,1],max_raises=[1,1])",
    "holdem(rounds=2,ranks=4,suits=2,hole=2,board=[0,3],max_raises=[1,1])",
    "holdem(rounds=3,ranks=3,suits=2,hole=1,board=[1,0,1],raises=[3,1,2],max_raises=[1,1,1],blinds=[2,2])",
    "holdem(players=3,rounds=1,ranks=4,suits=1,hole=1)",
    "holdem(players=3,rounds=2,ranks=2,suits=2,hole=1,board=[0,1],max_raises=[1,1])",
]


def across(simulated: HoldemSimulator, flat: FlatGame, by_tree: NDArray[Any]) -> NDArray[Any]:
    """Numbers by slot of the tree as numbers by slot of the simulator."""
    found = np.zeros(simulated.num_slots)
    found[tree_slots(simulated, flat)] = by_tree
    return found


def uct_scratch(simulated: HoldemSimulator) -> Any:
    return uct.Path.of(simulated.deepest, simulated.num_players)


def stack_for(simulated: HoldemSimulator, apart: bool) -> traversal_sampling.Stack:
    width, depth = simulated.widest, simulated.deepest + 1
    return traversal_sampling.Stack(
        width,
        np.zeros(depth, traversal_sampling.FRAME),
        np.zeros(depth * width),
        np.zeros(depth * width),
        np.zeros((depth + 1, simulated.num_players)),
        np.zeros(simulated.num_slots if apart else 0),
        np.zeros(simulated.decisions if apart else 0, traversal_sampling.TOUCHED),
        np.zeros(1, np.int64),
    )


def path_for(simulated: HoldemSimulator) -> outcome_sampling.Path:
    width, depth = simulated.widest, simulated.deepest + 1
    steps = np.zeros(depth, outcome_sampling.STEP)
    return outcome_sampling.Path(width, steps, np.zeros(depth * width), np.zeros(simulated.num_players))


def cfr_tables(slots: int) -> outcome_sampling.Tables:
    return outcome_sampling.Tables(np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64))


def papers(simulated: HoldemSimulator) -> Any:
    """Exploration by the pot, as the simulator has it by default."""
    return simulated.exploration(simulated.defaults["k"], simulated.defaults["cap"])


def learn(
    game: Any, simulated: HoldemSimulator, algorithm: str, iterations: int, c: float | None = None
) -> NDArray[np.float64]:
    """[slots of the simulator] the weights of the average strategy that an algorithm's kernel finds."""
    rng, players = streams(7, 1)[0], simulated.num_players
    if algorithm in ("uct", "smooth-uct"):
        cells = uct.Tables(np.zeros(simulated.num_slots, uct.CELL))
        schedule = uct.Always() if algorithm == "uct" else uct.Decay(0.1, 0.9, 0.002)
        exploration = papers(simulated) if c is None else ByPlayer(np.full(players, c))
        selection = uct.Selection(schedule, uct.Uniform(), exploration)
        uct.run(game, cells, selection, rng, uct_scratch(simulated), 1, 1, iterations)
        return cells.cell["visits"].astype(np.float64)
    tables = cfr_tables(simulated.num_slots)
    if algorithm == "os-mccfr":
        policy = outcome_sampling.Form(epsilon=0.6, alternating=False, lazy=True, players=players)
        outcome_sampling.run(game, tables, policy, rng, path_for(simulated), 1, 1, iterations)
        return tables.average
    apart = algorithm == "cs-mccfr"
    form: Any = traversal_sampling.ChanceAlone(players) if apart else traversal_sampling.External(players)
    traversal_sampling.run(game, tables, form, rng, stack_for(simulated, apart), 1, 1, iterations)
    return tables.average


# ---- Values


def every_deal(simulated: HoldemSimulator) -> Any:
    """Workers whose one deal is each of the possible deals in turn, all equally likely."""
    rules = simulated.rules
    sets = [rules.hole] * rules.players + [count for count in rules.board if count]
    game = simulated.worker(batch=1)
    deck = game.batch.deck

    def fill(taken: tuple[int, ...], left: list[int]) -> Any:
        if not left:
            yield taken
            return
        for chosen in combinations([card for card in range(rules.num_cards()) if card not in taken], left[0]):
            yield from fill((*taken, *chosen), left[1:])

    for cards in fill((), sets):
        rest = [card for card in range(rules.num_cards()) if card not in cards]
        deck[:] = [*cards, *rest]
        look_up_exact(game.cards, deck, game.batch.deals, 0)
        yield 0, game


def value_of_deal(game: HoldemGame, strategy: NDArray[Any], signals: int, node: int, players: int) -> NDArray[Any]:
    if is_terminal(game, node):
        return np.array([payoff(game, node, signals, player) for player in range(players)])
    slot = slot_of(game, node, signals)
    return sum(
        strategy[slot + action]
        * value_of_deal(game, strategy, signals, advance(game, node, action, signals, None), players)
        for action in range(num_actions(game, node))
        if strategy[slot + action] > 0
    ) + np.zeros(players)


@pytest.mark.parametrize("spec", [spec for spec in SMALL if "[0,3]" not in spec])  # that one has 16,800 deals
def test_values_are_the_trees(spec: str) -> None:
    """All deals one by one: a random strategy, and the best response to it, are worth what the tree says."""
    flat, simulated = flatten(spec), HoldemSimulator.of(spec)
    players = flat.num_players
    strategy = random_probabilities(flat, 3)
    earned, response = best_response(flat, strategy, players - 1)
    mixed, best = across(simulated, flat, strategy), across(simulated, flat, response)
    total, against, deals = np.zeros(players), np.zeros(players), 0
    for signals, game in every_deal(simulated):
        deals += 1
        total += value_of_deal(game, mixed, signals, 0, players)
        against += value_of_deal(game, best, signals, 0, players)
    np.testing.assert_allclose(total / deals, measure(flat, strategy).values, atol=1e-9)
    assert against[-1] / deals == pytest.approx(earned, abs=1e-9)


@kernel
def play_out(game, strategy, rng, episodes, sums):
    """Play by ``strategy[slots]``; add the payoffs and their squares to ``sums[2, players]``."""
    for _ in range(episodes):
        signals = deal(game, rng)
        node = start(game, signals, rng)
        while not is_terminal(game, node):
            action = draw(strategy, slot_of(game, node, signals), num_actions(game, node), rng)
            node = advance(game, node, action, signals, rng)
        for player in range(game.players):
            won = payoff(game, node, signals, player)
            sums[0, player] += won
            sums[1, player] += won * won


@pytest.mark.parametrize("spec", SMALL)
def test_means_of_millions_of_hands_are_the_trees_values(spec: str) -> None:
    flat, simulated = flatten(spec), HoldemSimulator.of(spec)
    strategy, hands = random_probabilities(flat, 4), 1_000_000
    sums = np.zeros((2, flat.num_players))
    play_out(simulated.worker(), across(simulated, flat, strategy), streams(1, 1)[0], hands, sums)
    mean = sums[0] / hands
    error = np.sqrt((sums[1] / hands - mean**2) / hands)
    values = np.array(measure(flat, strategy).values)
    assert (np.abs(mean - values) <= 4 * error).all()
    assert (error < 0.2).all()


@pytest.mark.parametrize("spec", SMALL)
def test_slots_of_the_tree_are_slots_of_the_simulator(spec: str) -> None:
    flat, simulated = flatten(spec), HoldemSimulator.of(spec)
    slots = tree_slots(simulated, flat)
    assert len(set(slots.tolist())) == flat.num_slots
    assert slots.min() >= 0
    assert slots.max() < simulated.num_slots
    assert (simulated.widest, simulated.num_players) == (flat.widest, flat.num_players)
    assert simulated.payoff_range >= flat.payoff_range


# ---- Learning


ITERATIONS = {"uct": 2_000_000, "smooth-uct": 2_000_000, "os-mccfr": 2_000_000, "es-mccfr": 500_000, "cs-mccfr": 99_000}


@pytest.mark.parametrize(("algorithm", "iterations"), ITERATIONS.items())
def test_every_sampler_learns_as_on_the_tree(algorithm: str, iterations: int) -> None:
    flat = flatten(LEDUC)
    simulated = HoldemSimulator.of(LEDUC)
    weights = learn(simulated.worker(), simulated, algorithm, iterations, c=100.0)
    found = measure(flat, flat.shares(weights[tree_slots(simulated, flat)])).nash_conv
    settings = {"c": 100.0} if "uct" in algorithm else {}
    if algorithm == "os-mccfr":
        settings = {"epsilon": 0.6}
    expected = solve(flat, algorithm, iterations, seed=2, **settings).nash_conv
    at_first = measure(flat, flat.uniform()).nash_conv
    assert expected is not None
    assert expected / 2 < found < 2 * expected  # seeds differ by less
    assert found < (0.5 if algorithm == "uct" else 0.15) * at_first


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "es-mccfr"])
def test_three_players_learn_as_on_the_tree(algorithm: str) -> None:
    spec = SMALL[-1]
    flat, simulated = flatten(spec), HoldemSimulator.of(spec)
    weights = learn(simulated.worker(), simulated, algorithm, 500_000, c=20.0)
    found = measure(flat, flat.shares(weights[tree_slots(simulated, flat)])).nash_conv
    settings = {"c": 20.0} if "uct" in algorithm else {"epsilon": 0.6} if algorithm == "os-mccfr" else {}
    expected = solve(flat, algorithm, 500_000, seed=2, **settings).nash_conv
    assert expected is not None
    assert expected / 2 < found < 2 * expected + 0.05


@pytest.mark.parametrize("responder", [0, 1])
def test_a_response_learned_through_the_wrapper_is_a_best_response(responder: int) -> None:
    """Everybody else bound to a model for good: what external sampling finds earns what the tree's response does."""
    flat, simulated = flatten(LEDUC), HoldemSimulator.of(LEDUC)
    model = random_probabilities(flat, 5)
    bound = RestrictedNash(simulated.worker(), responder, 1.0, across(simulated, flat, model))
    weights = learn(bound, simulated, "es-mccfr", 500_000)
    mine = np.repeat(flat.tree.infoset_player == responder, np.diff(flat.tree.infoset_start))
    learned = np.where(mine, flat.shares(weights[tree_slots(simulated, flat)]), model)
    exact = measure(flat, model)
    earned = measure(flat, learned).values[responder]
    assert exact.best_response_values[responder] - 0.1 < earned <= exact.best_response_values[responder] + 1e-9
    assert earned > exact.values[responder] + 3


@pytest.mark.slow
def test_data_biased_wrapper_is_the_same_game_as_the_trees() -> None:
    flat, simulated = flatten(LEDUC), HoldemSimulator.of(LEDUC)
    model, confidence = random_probabilities(flat, 6), np.random.default_rng(7).random(flat.num_infosets)
    by_slot = np.repeat(confidence, np.diff(flat.tree.infoset_start))
    tree = data_biased(flat, 1, model, confidence)
    bound = DataBiased(simulated.worker(), 1, across(simulated, flat, by_slot), across(simulated, flat, model))
    weights = learn(bound, simulated, "es-mccfr", 300_000)
    found = measure(tree, flat.shares(weights[tree_slots(simulated, flat)])).nash_conv
    expected = solve(tree, "es-mccfr", 300_000, seed=2).nash_conv
    assert expected is not None
    assert found < 2 * expected < 0.2 * measure(tree, flat.uniform()).nash_conv


def test_a_run_goes_on_from_its_arrays_bit_for_bit() -> None:
    """Streams, deck and batch are all that there is to keep."""
    simulated = HoldemSimulator.of("holdem(grid=ehs2:10/10/10/10)")
    selection = uct.Selection(uct.Decay(0.1, 0.9, 0.002), uct.Uniform(), papers(simulated))
    path = uct_scratch(simulated)

    def fresh() -> tuple[HoldemGame, uct.Tables, Any]:
        return simulated.worker(), uct.Tables(np.zeros(simulated.num_slots, uct.CELL)), streams(3, 1)[0]

    game, whole, rng = fresh()
    uct.run(game, whole, selection, rng, path, 1, 1, 5_000)
    game, parts, rng = fresh()
    uct.run(game, parts, selection, rng, path, 1, 1, 1_234)
    other, _, _ = fresh()
    other.batch.next[:], other.batch.deck[:] = game.batch.next, game.batch.deck
    for mine, theirs in zip(other.batch.deals, game.batch.deals, strict=True):
        mine[:] = theirs
    uct.run(other, parts, selection, rng, path, 1, 1, 5_000 - 1_234)
    assert whole.cell.tobytes() == parts.cell.tobytes()


def test_small_cells_hold_the_same_numbers() -> None:
    simulated = HoldemSimulator.of("holdem(players=3,rounds=2,ranks=3,suits=2,hole=1,board=[0,1])")
    selection = uct.Selection(uct.Decay(0.1, 0.9, 0.002), uct.Uniform(), papers(simulated))
    large, small = (uct.Tables(np.zeros(simulated.num_slots, kind)) for kind in (uct.CELL, uct.SMALL_CELL))
    for tables in (large, small):
        uct.run(simulated.worker(), tables, selection, streams(3, 1)[0], uct_scratch(simulated), 1, 1, 200_000)
    assert small.cell.dtype.itemsize == 12
    assert np.array_equal(large.cell["visits"], small.cell["visits"])
    assert np.array_equal(large.cell["total"], small.cell["total"])


# ---- The whole game


WHOLE = [
    "holdem",
    "holdem(grid=ehs-percentile:10/100/100/100)",
    "holdem(players=3,max_raises=[1,1,1,1],grid=ehs2:169/1000/500/200)",
]


@pytest.mark.parametrize("spec", WHOLE)
def test_random_hands_are_as_the_rules_have_them(spec: str) -> None:
    """Players, actions, buckets, exploration and payoffs of whole hands, dealt by the simulator."""
    rules, rng = load(spec), random.Random(spec)
    simulated = HoldemSimulator.of(rules)
    exploration = simulated.exploration(0.5, 200)
    game, stream = simulated.worker(16), streams(5, 1)[0]
    nodes = simulated.betting.nodes
    ties = 0
    for _ in range(400):
        signals = deal(game, stream)
        cards = game.batch.deals.cards[signals].tolist()
        waiting = [sorted(cards[5 + 2 * seat : 7 + 2 * seat]) for seat in range(rules.players)]
        waiting += [sorted(cards[:3]), cards[3:4], cards[4:5]]
        state, node = rules.new_initial_state(), start(game, signals, stream)
        while not state.is_terminal():
            if state.is_chance_node():
                for card in waiting.pop(0):
                    state = state.child(card)
                continue
            player = state.current_player()
            assert player_of(game, node) == player
            actions = state.legal_actions()
            assert num_actions(game, node) == len(actions)
            bucket = int(state.information_state_string(player).split(":")[0])
            slot = nodes[node]["slot"] + bucket * nodes[node]["stride"]
            assert slot_of(game, node, signals) == slot, cards_name(cards)
            pot, to_come = state.betting_outlook()
            assert explore(exploration, node, player, slot) == min(200, pot + 0.5 * to_come)
            action = rng.choices(actions, [1 if each == 0 else 6 for each in actions])[0]
            after = advance(game, node, actions.index(action), signals, stream)
            assert after == child_after(simulated.betting, node, "fcr"[action])
            state, node = state.child(action), after
        assert is_terminal(game, node)
        won = [payoff(game, node, signals, player) for player in range(rules.players)]
        assert won == pytest.approx(list(state.returns()), abs=1e-9)
        ties += sum(state.in_hand) > 1 and max(won) < max(state.paid)
    assert ties > 0


def test_exploration() -> None:
    """C = 24 and k = 0.5 in big blinds gave the paper c from 10 to 24; ours is in chips."""
    whole, small = HoldemSimulator.of("holdem"), HoldemSimulator.of(LEDUC)

    def explored(simulated: HoldemSimulator, **parameters: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = SelfPlay(simulated, "uct", {"seed": 1, **parameters}).driver.policy.exploration.c
        return found

    assert explored(whole).min() == 100
    assert explored(whole).max() == 240
    of_2014 = explored(whole, k=0.5, cap=None)
    assert of_2014.max() == 400
    assert explored(small, c=[3, 4]).tolist() == [3, 4]
    with pytest.raises(FogplayError, match="c alone, or k"):
        explored(whole, c=1, k=0.5)
    with pytest.raises(FogplayError, match="is not a game of hold'em"):
        HoldemSimulator.of("kuhn")
    with pytest.raises(FogplayError, match="situations of exact cards"):
        HoldemSimulator.of("holdem(grid=exact)")


@pytest.mark.parametrize(
    "algorithm", [pytest.param(name, marks=[pytest.mark.slow] if name != "smooth-uct" else []) for name in ITERATIONS]
)
def test_every_sampler_runs_on_the_whole_game(algorithm: str) -> None:
    simulated = HoldemSimulator.of("holdem(grid=ehs2:10/10/10/10)")
    iterations = {"cs-mccfr": 20, "es-mccfr": 2_000}.get(algorithm, 20_000)
    weights = learn(simulated.worker(), simulated, algorithm, iterations)
    assert np.isfinite(weights).all()
    assert (weights > 0).sum() > 1_000
