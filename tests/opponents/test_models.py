"""Models from observed play: exact counts, unseen cards completed, decision trees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.evaluate import best_response, measure
from fogplay.opponents import learn_model, record
from fogplay.opponents.counts import Observed, dirichlet, expected_counts
from fogplay.opponents.decision_tree import phases_of
from fogplay.opponents.histories import UNSEEN, Hand, Histories, parse, write
from fogplay.opponents.walk import complete
from fogplay.trees import FlatGame, flatten
from tests.helpers import random_probabilities
from tests.opponents import naive
from tests.play.helpers import match_of

KUHN, LEDUC = flatten("kuhn"), flatten("leduc")


def played(
    flat: FlatGame, hands: int, *others: NDArray[np.float64], seed: int = 1, seen_by: str | None = None
) -> Histories:
    """A match of ann, who plays uniformly, against bob (and eve), with strategies as given."""
    names = ["ann", "bob", "eve"][: flat.num_players]
    match = match_of(flat, [flat.uniform(), *others], hands, seed=seed, keep=True)
    assert match.ends is not None
    return record(flat, match.ends, names, seen_by)


def hands_of(histories: Histories) -> list[Hand]:
    return [histories.hands[each] for each in histories.order]


def by_name(flat: FlatGame, table: NDArray[np.generic]) -> dict[tuple[str, str], float]:
    infoset = np.repeat(np.arange(flat.num_infosets), np.diff(flat.tree.infoset_start))
    return {
        (flat.infosets[infoset[slot]], flat.actions[slot]): float(table[slot])  # type: ignore[arg-type]
        for slot in range(flat.num_slots)
    }


def seat_of_slots(flat: FlatGame) -> NDArray[np.int8]:
    return np.repeat(flat.tree.infoset_player, np.diff(flat.tree.infoset_start))


def error_of(flat: FlatGame, model: fp.Strategy, truth: NDArray[np.float64], least: int) -> float:
    """The largest error of a probability at the infosets seen at least so often."""
    assert model.visits is not None
    sizes = np.diff(flat.tree.infoset_start)
    seen = np.repeat(np.add.reduceat(model.visits, flat.tree.infoset_start[:-1]), sizes)
    assert (seen >= least).sum() > 50
    return float(np.abs(model.probabilities - truth)[seen >= least].max())


@pytest.mark.parametrize("prior", [0, 1, 2.5])
@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "bluff(1,1,2)", "goofspiel(3)", "pam"])
def test_open_hands_are_counted_exactly(spec: str, prior: float) -> None:
    flat = flatten(spec)
    others = [random_probabilities(flat, seed) for seed in range(1, flat.num_players)]
    histories = played(flat, 61, *others)
    model = learn_model(flat, histories, "bob", prior=prior)
    strategy, counts = naive.learn(fp.load(spec), hands_of(histories), "bob", prior, 1)
    assert by_name(flat, model.probabilities) == pytest.approx(strategy)
    assert by_name(flat, model.visits) == {key: counts[key] for key in by_name(flat, model.visits)}  # type: ignore[arg-type]
    assert model.parameters["rounds"] == 1
    assert model.iterations == 61
    assert model.method == "counts"


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize(("spec", "observer"), [("kuhn", "ann"), ("kuhn(players=3)", "ann"), ("ocp(cards=4)", "bob")])
def test_unseen_cards_are_completed_as_by_the_twin(spec: str, observer: str, rounds: int) -> None:
    """In the last case bob, the modelled player, wrote the log: the others' cards are unseen, and matter nothing."""
    flat = flatten(spec)
    others = [random_probabilities(flat, seed, zeros=False) for seed in range(1, flat.num_players)]
    histories = played(flat, 150, *others, seen_by=observer)
    assert any(UNSEEN in hand.moves for hand in histories.hands)
    model = learn_model(flat, histories, "bob", rounds=rounds)
    strategy, counts = naive.learn(fp.load(spec), hands_of(histories), "bob", 1.0, rounds)
    assert by_name(flat, model.probabilities) == pytest.approx(strategy)
    for key, visits in by_name(flat, model.visits).items():  # type: ignore[arg-type]
        assert visits == round(visits)
        assert abs(visits - counts[key]) < 0.5 + 1e-6


def test_every_round_makes_the_hands_more_likely() -> None:
    """Dempster, Laird & Rubin: with the prior's share, the logarithm never falls."""
    truth = random_probabilities(LEDUC, 5, zeros=False)
    histories = played(LEDUC, 400, truth, seen_by="ann")
    found = complete(LEDUC, histories)
    sides = np.array([[name == "bob" for name in hand.names] for hand in histories.hands])
    observed = Observed(np.array([[True, False], [False, True]]), sides[:, 1].astype(np.int64), histories.counts, found)
    fit, strategies = dirichlet(LEDUC, 1.0, LEDUC.uniform()), np.stack([LEDUC.uniform()] * 2)
    before = -np.inf
    room = np.empty(LEDUC.num_nodes)
    from fogplay.kernels.completions import reach_of

    for _ in range(8):
        total = float((np.log(strategies) * LEDUC.uniform()).sum())
        for number, mine in enumerate(observed.seats):
            reach_of(LEDUC.tree, strategies, mine, room)
            hand = np.repeat(np.arange(len(histories.hands)), np.diff(found.start))
            likely = np.bincount(hand, found.chance * room[found.node])
            here = observed.arrangement == number
            total += float((np.log(likely) * histories.counts)[here].sum())
        assert total > before
        before = total
        counts = expected_counts(LEDUC, observed, strategies, room)
        assert counts.sum() > 0
        strategies = np.stack([fit(counts[0]), fit(counts[1])])


def test_folded_cards_are_learned_though_never_shown() -> None:
    """From what ann saw of 200,000 hands; counting only hands shown down would suggest that bob never folds."""
    truth = KUHN.uniform()
    folds = {"J:p": 0.7, "J:b": 0.8, "Q:b": 0.5, "K:b": 0.1, "Q:p": 0.9, "K:p": 0.3}
    folds |= {"J:": 0.6, "Q:": 0.8, "K:": 0.4, "J:pb": 0.9, "Q:pb": 0.4, "K:pb": 0.05}  # the probability to pass
    for number, name in enumerate(KUHN.infosets):
        truth[KUHN.slots(number)] = folds[name], 1 - folds[name]
    histories = played(KUHN, 200_000, truth, seen_by="ann")
    model = learn_model(KUHN, histories, "bob")
    assert np.abs(model.probabilities - truth).max() < 0.02
    shown = [hand for hand in hands_of(histories) if UNSEEN not in hand.moves]
    different = {hand: number for number, hand in enumerate(dict.fromkeys(shown))}
    only = Histories(tuple(different), np.array([different[hand] for hand in shown]))
    naively = learn_model(KUHN, only, "bob")
    assert naively["Q:b"]["pass"] < 0.001  # 0.5 in truth
    assert naively["J:pb"]["pass"] < 0.001  # 0.9 in truth
    assert model["J:pb"]["pass"] == pytest.approx(0.9, abs=0.02)


def test_leduc_from_one_side() -> None:
    truth = random_probabilities(LEDUC, 7, zeros=False)
    histories = played(LEDUC, 500_000, truth, seen_by="ann")
    model = learn_model(LEDUC, histories, "bob")
    assert error_of(LEDUC, model, truth, 1000) < 0.06
    assert error_of(LEDUC, model, truth, 10_000) < 0.03
    shown = [hand for hand in histories.hands if UNSEEN not in hand.moves]
    naively = learn_model(LEDUC, Histories(tuple(shown), np.arange(len(shown))), "bob", prior=0)
    assert naively["Qh:r"]["fold"] == 0
    assert model["Qh:r"]["fold"] == pytest.approx(truth[LEDUC.slots(LEDUC.infosets.index("Qh:r"))][0], abs=0.02)


def equilibrium_of_leduc() -> fp.Strategy:
    return fp.solve(LEDUC, "cfr+", 300).strategy


def caller(equilibrium: fp.Strategy) -> NDArray[np.float64]:
    """Half an equilibrium, half a player who calls far too much."""
    liking = {"fold": 0.3, "call": 2.0, "raise": 0.7}
    out = np.array([liking[name] for name in LEDUC.actions])
    starts, sizes = LEDUC.tree.infoset_start[:-1], np.diff(LEDUC.tree.infoset_start)
    out /= np.repeat(np.add.reduceat(out, starts), sizes)
    return 0.5 * out + 0.5 * equilibrium.probabilities


def winnings_of_response(model: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """What the best response to a model wins from the true player, at both seats."""
    won = 0.0
    for seat in (0, 1):
        response = best_response(LEDUC, model, seat)[1]
        won += measure(LEDUC, np.where(seat_of_slots(LEDUC) == seat, response, truth)).values[seat]
    return won


@pytest.mark.parametrize("method", ["counts", "tree"])
def test_a_response_to_a_model_of_20000_hands_wins_80_per_cent(method: str) -> None:
    """Seen from one side only; the prior leans to the equilibrium, so that the unknown is not taken for a gift."""
    equilibrium = equilibrium_of_leduc()
    truth = caller(equilibrium)
    match = match_of(LEDUC, [equilibrium.probabilities, truth], 20_000, seed=3, keep=True)
    assert match.ends is not None
    histories = record(LEDUC, match.ends, ["me", "caller"], "me")
    model = learn_model(LEDUC, histories, "caller", method=method, prior=2, toward=equilibrium)
    ceiling, floor = winnings_of_response(truth, truth), winnings_of_response(equilibrium.probabilities, truth)
    assert floor < 0.5 * ceiling
    assert winnings_of_response(model.probabilities, truth) > 0.8 * ceiling


def test_decision_trees_generalise_where_counts_cannot() -> None:
    """From 500 open hands: what was never seen is judged by its like."""
    truth = caller(equilibrium_of_leduc())
    histories = played(LEDUC, 500, truth)
    by_counts = learn_model(LEDUC, histories, "bob")
    by_tree = learn_model(LEDUC, histories, "bob", method="tree")
    assert by_tree.method == "decision-tree"
    assert by_tree.visits is not None
    assert by_counts.visits is not None
    assert by_tree.visits.tolist() == by_counts.visits.tolist()  # observations at that very infoset
    unseen = np.repeat(np.add.reduceat(by_counts.visits, LEDUC.tree.infoset_start[:-1]) == 0,
                       np.diff(LEDUC.tree.infoset_start))  # fmt: skip
    assert unseen.sum() > 200
    wrong_by = {name: np.abs(model.probabilities - truth)[unseen].mean()
                for name, model in (("counts", by_counts), ("tree", by_tree))}  # fmt: skip
    assert wrong_by["tree"] < 0.8 * wrong_by["counts"]


def test_a_tree_learns_a_rule_exactly() -> None:
    """Bob bets with the ten best of twenty cards; five hands at most are seen of a card."""
    flat = flatten("ocp(cards=20)")
    truth = flat.uniform()
    for number, name in enumerate(flat.infosets):
        truth[flat.slots(number)] = (0, 1) if int(name.partition(":")[0]) > 10 else (1, 0)
    model = learn_model(flat, played(flat, 400, truth), "bob", method="tree", prior=0)
    assert model.probabilities.tolist() == truth.tolist()
    hidden = learn_model(flat, played(flat, 20_000, truth, seen_by="ann"), "bob", method="tree")
    assert np.abs(hidden.probabilities - truth).max() < 0.1


def test_leaves_hold_enough_hands() -> None:
    """With leaves of 10,000 hands there is one leaf: every infoset with the same actions has the same strategy."""
    histories = played(LEDUC, 3000, random_probabilities(LEDUC, 3))
    model = learn_model(LEDUC, histories, "bob", method="tree", min_hands=10_000, prior=0)
    assert len({tuple(model[name].items()) for name in ("Jh:", "Kh:", "Qs:c")}) == 1
    finer = learn_model(LEDUC, histories, "bob", method="tree", min_hands=50, prior=0)
    assert len({tuple(finer[name].items()) for name in ("Jh:", "Kh:", "Qs:c")}) > 1
    assert np.allclose(np.add.reduceat(finer.probabilities, LEDUC.tree.infoset_start[:-1]), 1)


@pytest.mark.parametrize("method", ["counts", "tree"])
def test_seats_never_taken_stay_at_the_prior(method: str) -> None:
    line = "ann|bob: deal J; deal Q; bet; bet\n"
    toward = fp.TabularStrategy.of(KUHN, random_probabilities(KUHN, 1), "some")
    model = learn_model(KUHN, parse(line * 30), "bob", method=method, prior=2, toward=toward)
    mine = seat_of_slots(KUHN) == 1
    assert model.probabilities[~mine].tolist() == toward.probabilities[~mine].tolist()
    assert model.visits is not None
    assert model.visits.sum() == 30
    assert model["Q:b"]["bet"] == pytest.approx((30 + 2 * toward["Q:b"]["bet"]) / 32)
    assert model["Q:p"] == pytest.approx(toward["Q:p"] if method == "counts" else model["Q:b"], abs=0.1)


def test_a_player_at_several_seats_of_one_hand() -> None:
    model = learn_model("kuhn", parse("bob|bob: deal J; deal Q; bet; bet\nbob|bob: deal J; deal K; pass; pass\n"))
    assert model["J:"] == {"pass": 0.5, "bet": 0.5}
    assert model["Q:b"] == {"pass": 0.25, "bet": 0.75}
    assert model["K:p"] == {"pass": 0.75, "bet": 0.25}
    assert model.iterations == 2
    assert model.parameters["player"] == "bob"


def test_a_hand_that_the_model_rules_out_counts_by_chance() -> None:
    """Without a prior and toward a strategy that never bets, a bet seen with an unseen card is spread by chance."""
    never = fp.TabularStrategy.of(KUHN, np.tile([1.0, 0.0], 12), "passes")
    model = learn_model(KUHN, parse("ann|bob: deal J; ?; pass; bet; pass\n" * 10), "bob", prior=0, toward=never)
    assert model["Q:p"] == {"pass": 0.0, "bet": 1.0}
    assert model.visits is not None
    assert model.visits[KUHN.slots(KUHN.infosets.index("Q:p"))].tolist() == [0, 5]


def test_who_is_modelled() -> None:
    histories = parse("ann|bob: deal J; deal Q; bet; bet\n", "hands.txt")
    with pytest.raises(FogplayError, match=r"has hands of ann, bob; say whose model to learn \(--player NAME\)"):
        learn_model("kuhn", histories)
    with pytest.raises(FogplayError, match=r"hands.txt has no hands of 'eve'; choose one of ann, bob"):
        learn_model("kuhn", histories, "eve")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method must be counts or tree, not 'magic'"),
        ({"prior": -1}, "prior must be a number from 0 to 1e.12, not -1"),
        ({"prior": float("nan")}, "prior must be a number from 0"),
        ({"min_hands": 0}, "min_hands must be a number from 1"),
        ({"rounds": 0}, "rounds must be a whole number from 1, not 0"),
        ({"toward": fp.TabularStrategy.of(LEDUC, LEDUC.uniform(), "x")}, "this strategy is for leduc"),
    ],
)
def test_settings_that_make_no_sense(settings: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(FogplayError, match=message):
        learn_model("kuhn", parse("ann|bob: deal J; deal Q; bet; bet\n"), "bob", **settings)


def test_games_without_features_say_so() -> None:
    flat = flatten("pam")
    with pytest.raises(FogplayError, match=r"^pam has no features\(\) for decision trees; use --method counts$"):
        learn_model(flat, played(flat, 10, flat.uniform()), "bob", method="tree")


def test_features_of_every_infoset_are_found() -> None:
    for spec in ("leduc", "kuhn(players=4)", "goofspiel(4)", "bluff(2,1,2)", "ocp(cards=9)"):
        flat = flatten(spec)
        phases = phases_of(flat, np.ones(flat.num_players, np.bool_))
        found = np.concatenate([phase.infosets for phase in phases])
        assert sorted(found.tolist()) == list(range(flat.num_infosets))
        assert all(phase.features.shape == (len(phase.infosets), len(phase.names)) for phase in phases)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"seat": 0}, "must return finite numbers, 'phase' among them; at infoset '"),
        ({"phase": 0, "x": float("nan")}, "must return finite numbers"),
        ({"phase": 0, "x": "high"}, "must return finite numbers"),
        (None, "returns seat at infoset 'J:' and other names at"),
    ],
)
def test_features_that_make_no_sense(
    monkeypatch: pytest.MonkeyPatch, features: dict[str, float] | None, message: str
) -> None:
    from fogplay.games.kuhn import KuhnState

    uneven = lambda state: {"phase": 0, ("seat" if state.bets else "other"): 1.0}  # noqa: E731
    monkeypatch.setattr(KuhnState, "features", lambda state: uneven(state) if features is None else features)
    with pytest.raises(FogplayError, match="kuhn.*" + message.replace("returns seat", "returns other")):
        learn_model("kuhn", parse("ann|bob: deal J; deal Q; bet; bet\n"), "ann", method="tree")


def test_a_model_is_a_strategy(tmp_path: Path) -> None:
    """It is saved and loaded, and its greedy form takes what was seen most."""
    histories = parse("ann|bob: deal J; deal Q; bet; bet\n" * 3 + "ann|bob: deal J; deal Q; bet; pass\n")
    write(tmp_path / "hands.txt", histories)
    model = fp.learn_model("kuhn", tmp_path / "hands.txt", "bob")
    model.save(tmp_path / "model.safetensors")
    again = fp.Strategy.load(tmp_path / "model.safetensors")
    assert again.probabilities.tolist() == model.probabilities.tolist()
    assert again.visits is not None
    assert again.visits.tolist() == model.visits.tolist()  # type: ignore[union-attr]
    assert again.parameters["prior"] == 1
    assert again.action_values is None
    assert model.greedy()["Q:b"] == {"pass": 0.0, "bet": 1.0}
    assert fp.evaluate(model).nash_conv > 0
