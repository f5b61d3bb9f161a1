"""Players of rule sheets: they find what is best, mix where that is needed, and keep to the clock."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import pytest

from fogplay import load
from fogplay.games.game import TERMINAL
from fogplay.games.gdl import GdlState
from fogplay.gdl import lanes
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.networked import NetworkMachine
from fogplay.kernels import stages
from fogplay.play import View
from fogplay.search import sheet_networked, sheet_uct
from fogplay.search.sheet_exploiting import Choices, twice
from fogplay.search.sheet_interpreted import Interpreted
from fogplay.search.sheet_networked import Networked
from fogplay.search.sheets import ALGORITHMS, SheetPlayer, agent
from tests.helpers import refusal


def view_of(state: GdlState, deadline: float | None = None) -> View:
    seat = state.current_player()
    return View(
        seat=seat,
        legal=state.legal_actions(),
        luck=0.5,
        infoset=lambda: state.information_state_string(seat),
        names=lambda: tuple(state.action_to_string(seat, action) for action in state.legal_actions()),
        world=lambda rng, doubt: state,
        game=state.game,
        deadline=deadline,
    )


def after(name: str, *moves: str) -> GdlState:
    state = load(name).new_initial_state()
    for move in moves:
        names = [state.action_to_string(0, action) for action in state.legal_actions()]
        state = state.child(names.index(move))
    return state


def machine_of(game: Any) -> NetworkMachine:
    assert isinstance(game.machine, NetworkMachine)
    return game.machine


@pytest.mark.parametrize("algorithm", ["uct", "smooth-uct", "cfr", "auto"])
def test_it_wins_and_prevents_a_loss(algorithm: str) -> None:
    state = after("tictactoe.kif", "(mark 1 1)", "(mark 2 2)", "(mark 1 2)")  # x threatens (1 3)
    player = SheetPlayer(state.game, algorithm, 0.3)
    assert state.action_to_string(1, player.act(view_of(state))) == "(mark 1 3)"
    assert player.iterations > 20


@pytest.mark.parametrize("algorithm", ["uct", "smooth-uct", "flat"])
def test_so_many_simulations_are_the_same_on_any_machine(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state, found = after("tictactoe.kif", "(mark 1 1)", "(mark 2 2)"), []
    for stretch in (1e-9, 1.0):  # looks at the clock after each, or hardly ever
        monkeypatch.setattr(sheet_networked, "STRETCH", stretch)
        player = SheetPlayer(state.game, algorithm, simulations=300, seed=5)
        found.append(player.distribution(view_of(state)))
        assert player.iterations == 300
    assert found[0] == found[1]


def test_a_full_memory_is_cleared_before_the_next_move() -> None:
    """Many simulations of a game with many moves fill the room for moves long before that for infosets."""
    machine = machine_of(load("tictactoe.kif"))
    network = Networked(machine, False, 1)
    network.learned = sheet_uct.empty(1024, 100)
    state = machine.initial()
    for role in (0, 1, 0):
        world = np.frombuffer(state, np.uint8)[None, :]
        cells, _ = network.tries("uct", world, network.no_keys(), role, 0.0, 200)
        assert cells["visits"].sum() == 200
        legal = machine.legal(state)
        state = machine.next(state, [options[0] for options in legal])


@pytest.mark.parametrize(
    ("name", "share"), [("biased-rps.kif", (0.625, 0.0625, 0.3125)), ("two-by-two.kif", (0.46, 0.54))]
)
def test_cfr_mixes(name: str, share: tuple[float, ...]) -> None:
    state, found = load(name).new_initial_state(), [0.0]
    for seconds in (0.3, 1.0, 4.0, 16.0):  # longer where other processes keep the machine busy
        found = SheetPlayer(state.game, "auto", seconds).distribution(view_of(state))
        if found == pytest.approx(share, abs=0.02):
            break
    assert found == pytest.approx(share, abs=0.02)


def test_cfr_finds_the_value_of_a_whole_game() -> None:
    """Three hands of rock-paper-scissors, by the network and by the interpreter: the same nodes, the same value."""
    game = load("rps-repeated.kif")
    network, interpreter = Networked(machine_of(game), False, 1), Interpreted(Interpreter(game.sheet), 1)
    network.stages(game.machine.initial(), 0.0)  # compiles
    far = time.monotonic() + 60
    found = [network.stages(game.machine.initial(), far), interpreter.expand(interpreter.machine.initial(), far)]
    assert len(found[0].value) == len(found[1].value)
    for made in found:
        stages.iterate(made, 1, 2000)
        stages.match_regrets(made, 0.0)
        root = made.average[made.first_slot[0, 0] : made.first_slot[0, 1]]
        assert root / root.sum() == pytest.approx(np.full(3, 1 / 3), abs=0.05)
        assert made.value[0] == pytest.approx([50.0, 50.0], abs=1.0)


def test_cfr_merges_states_and_keeps_its_tree() -> None:
    """All 5,478 states of tic-tac-toe, once each; after a move, those below it stay, with what was learned."""
    machine = machine_of(load("tictactoe.kif"))
    network = Networked(machine, False, 1)
    network.stages(machine.initial(), 0.0)  # compiles
    far = time.monotonic() + 60
    first = network.stages(machine.initial(), far)
    assert len(first.value) == 5478
    stages.iterate(first, 1, 20)
    legal = machine.legal(machine.initial())
    after = machine.next(machine.initial(), [legal[0][4], legal[1][0]])
    place = int(first.child[4])
    learned = [(first.first_slot[place, 1], first.first_slot[place, 2])]
    average = first.average[learned[0][0] : learned[0][1]].copy()
    assert average.sum() > 0
    kept = network.stages(after, 0.0)  # no time: nothing is added
    assert 500 < len(kept.value) < 3000
    assert kept.average[kept.first_slot[0, 1] : kept.first_slot[0, 2]] == pytest.approx(average)
    again = Networked(machine, False, 1).stages(after, far)
    assert len(kept.value) == len(again.value)
    for made in (kept, again):
        stages.iterate(made, 1, 200)
    assert kept.value[0] == pytest.approx(again.value[0], abs=0.5)


def test_a_kept_tree_goes_on_growing() -> None:
    machine = machine_of(load("connectfour-simultaneous.kif"))
    network = Networked(machine, False, 1)
    network.stages(machine.initial(), 0.0)  # compiles
    first = network.stages(machine.initial(), time.monotonic() + 0.2)
    assert network.tree is not None
    assert first.first_child[-1] > 25
    legal = machine.legal(machine.initial())
    state = machine.next(machine.initial(), [legal[0][2], legal[1][1]])
    network.stages(state, 0.0)
    before = network.tree.counts.copy()
    assert before[0] > 1
    assert before[1] >= 1
    grown = network.stages(state, time.monotonic() + 0.3)
    assert network.tree.counts[1] > before[1]
    for node in range(len(grown.value)):  # children come after their parents
        own = grown.child[grown.first_child[node] : grown.first_child[node + 1]]
        assert (own > node).all()
    stages.iterate(grown, 1, 50)
    assert np.isfinite(grown.value).all()
    assert grown.value.sum(axis=1) == pytest.approx(100.0, abs=0.01)


def test_estimates_are_means_of_random_plays() -> None:
    machine = machine_of(load("connectfour.kif"))
    network = Networked(machine, False, 1)
    made = network.stages(machine.initial(), 0.0)
    rows = lanes.make_rows(machine.circuit, 5)
    for node in range(1, 4):
        assert network.tree is not None
        state = network.tree.states[node].tobytes()
        many = lanes.simulate(machine.circuit, rows, state, 20_000).means
        assert made.value[node] == pytest.approx(many, abs=20.0)  # at least fifty plays each: five standard errors


def test_auto_uses_cfr_where_it_sees_the_end() -> None:
    network = Networked(machine_of(load("rps-repeated.kif")), False, 1)
    network.stages(network.machine.initial(), 0.0)  # compiles
    assert network.covers(network.machine.initial(), time.monotonic() + 60)
    large = Networked(machine_of(load("connectfour-simultaneous.kif")), False, 1)
    assert not large.covers(large.machine.initial(), time.monotonic() + 0.05)
    state = large.machine.initial()
    assert len(large.stages(state, time.monotonic() + 0.1).value) > 25  # cut back to what can be estimated


def test_the_deadline_ends_it() -> None:
    state = load("connectfour.kif").new_initial_state()
    for algorithm in ("uct", "cfr"):
        player = SheetPlayer(state.game, algorithm, 100.0)
        player.act(view_of(state, time.monotonic() + 0.3))  # compiles
        end = time.monotonic() + 0.5
        player.act(view_of(state, end))
        assert time.monotonic() < end + 5.0  # a busy machine may be late


def test_hidden_information_is_searched() -> None:
    """With the jack, Smooth UCT folds to a bet; with the king, it calls."""
    game = load("kuhn.kif")
    player = SheetPlayer(game, "auto", 0.1)
    for card, wanted in (("king", "bet"), ("jack", "pass")):
        state = state_with(game, f"bob: [{card}] [bet]")
        share = dict(zip(view_of(state).names, player.distribution(view_of(state)), strict=True))
        assert share[wanted] > 0.9


def state_with(game: Any, infoset: str) -> GdlState:
    """A state in which an infoset's player is to move."""
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        player = state.current_player()
        if player >= 0 and state.information_state_string(player) == infoset:
            return state
        if player != TERMINAL:
            waiting += [state.child(action) for action in state.legal_actions()]
    raise AssertionError(infoset)


def test_the_exploiting_player_responds_to_uct() -> None:
    """Against UCT, which plays off the equilibrium, p = 1 is a best response; p = 0 is the equilibrium."""
    state = load("biased-rps.kif").new_initial_state()
    greedy = SheetPlayer(state.game, "exploit", 0.5, confidence=1.0).distribution(view_of(state))
    assert max(greedy) > 0.95
    careful = SheetPlayer(state.game, "exploit", 0.5, confidence=0.0).distribution(view_of(state))
    assert careful == pytest.approx((0.625, 0.0625, 0.3125), abs=0.05)


def whole_tree(sheet: str) -> tuple[Networked, Any]:
    """The search of a sheet and all its states as a tree."""
    game = load(sheet)
    network = Networked(machine_of(game), False, 1)
    network.stages(game.machine.initial(), 0.0)  # compiles
    return network, network.stages(game.machine.initial(), time.monotonic() + 60)


def values_of(tree: Any, chosen: Any, best: int | None) -> list[float]:
    """The roles' values at the root if all play ``chosen``, but one of them its best moves."""
    value = np.array(tree.value, float)
    for node in np.flatnonzero(np.diff(tree.first_child))[::-1].tolist():
        own = [slice(tree.first_slot[node, role], tree.first_slot[node, role + 1]) for role in range(2)]
        after = tree.child[tree.first_child[node] : tree.first_child[node + 1]]
        worth = value[after].reshape(*(each.stop - each.start for each in own), 2)
        moves = [
            np.einsum("ij,j->i", worth[..., 0], chosen[own[1]]),
            np.einsum("ij,i->j", worth[..., 1], chosen[own[0]]),
        ]
        value[node] = [moves[role] @ chosen[own[role]] for role in range(2)]
        if best is not None:
            value[node, best] = moves[best].max()
    return [float(each) for each in value[0]]


@pytest.mark.parametrize("confidence", [0.0, 0.5, 1.0])
def test_responses_on_a_tree_of_stages(confidence: float) -> None:
    """No confidence is an equilibrium, full confidence a best response to the model; between them are both, in part."""
    _network, tree = whole_tree("goofspiel.kif(cards=4)")
    free, modelled = twice(tree)
    rng = np.random.default_rng(1)
    for node in np.flatnonzero(np.diff(tree.first_child)).tolist():
        for role in range(2):
            own = slice(tree.first_slot[node, role], tree.first_slot[node, role + 1])
            modelled.chosen[own] = rng.dirichlet(np.full(own.stop - own.start, 0.3))
    model = modelled.chosen.copy()
    stages.respond(free, modelled, 0, confidence, 1, 2000)
    mine = [slice(tree.first_slot[node, 0], tree.first_slot[node, 1]) for node in range(len(tree.value))]
    played, feared = model.copy(), free.average.copy()
    for own in mine:
        played[own] = free.average[own] / max(free.average[own].sum(), 1e-9)
    feared[:] = played
    won, kept = values_of(tree, played, None)[0], 100.0 - values_of(tree, feared, 1)[1]
    most = values_of(tree, model, 0)[0]
    if confidence == 1.0:
        assert won == pytest.approx(most, abs=0.5)
    elif confidence == 0.0:
        assert kept == pytest.approx(50.0, abs=0.5)
    else:
        assert 50.0 < won < most
        assert 0.0 < kept < 50.0


def test_choices_of_uct_are_counted_and_kept() -> None:
    """Where a move wins at once, UCT chooses it every time; a second look continues the count."""
    network, tree = whole_tree("biased-rps.kif")
    choices = Choices(network)
    choices.model(tree, time.monotonic())
    ((runs, counts),) = choices.found.values()
    assert runs == 1
    assert [each.sum() for each in counts] == [1.0, 1.0]
    for number in range(1, 41):
        choices.run(network.tree.states[0], [3, 3], number)  # type: ignore[union-attr]
    ((runs, counts),) = choices.found.values()
    assert runs == 40
    assert counts[0].sum() == pytest.approx(40.0)
    chosen = np.zeros(len(tree.average))
    choices.fill(tree, chosen)
    assert chosen[:3] == pytest.approx(counts[0] / 40)
    assert chosen[3:6] == pytest.approx(counts[1] / 40)


def test_flat_monte_carlo_takes_a_win() -> None:
    state = after("tictactoe.kif", "(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)")
    player = SheetPlayer(state.game, "flat", 0.1)
    assert state.action_to_string(0, player.act(view_of(state))) == "(mark 1 3)"


def test_it_plays_without_a_network() -> None:
    game = load("rps.kif")
    bare = copy.copy(game)
    bare.__dict__["machine"] = Interpreter(game.sheet)
    for algorithm in ALGORITHMS:
        found = SheetPlayer(bare, algorithm, 0.1).distribution(view_of(bare.new_initial_state()))
        assert sum(found) == pytest.approx(1.0)


def test_texts() -> None:
    rules = load("rps.kif")
    assert str(agent("", rules)) == "ggp:auto:1s"
    assert str(agent("cfr:0.5s", rules)) == "ggp:cfr:0.5s"
    assert "did you mean 'uct'? write ggp:ALGORITHM:SECONDS" in refusal(agent, "utc", rules)
    assert str(agent("exploit:0.5", rules)) == "ggp:exploit:0.5:1s"
    assert str(agent("exploit:2s", rules)) == "ggp:exploit:0.75:2s"
    assert str(agent("smooth-uct:0.5s", rules)) == "ggp:smooth-uct:0.5s"
    assert str(agent("flat:500", rules)) == "ggp:flat:500"
    assert "500 simulations are for uct, smooth-uct, flat on a network" in refusal(agent, "cfr:500", rules)
    assert "'x' is not a number of seconds" in refusal(agent, "uct:x", rules)
    assert "'x' is not a confidence" in refusal(agent, "exploit:x", rules)
    assert "confidence must be a number from 0 to 1" in refusal(agent, "exploit:2", rules)
    assert "one setting too many" in refusal(agent, "uct:1s:2", rules)
    assert "plays rule sheets only" in refusal(agent, "uct", load("kuhn"))
