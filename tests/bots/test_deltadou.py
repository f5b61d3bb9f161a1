"""DeltaDou: search and inference against enumeration and the solver, and what a player may not see."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.agents.resolve import names_of, resolve
from fogplay.bots.doudizhu import (
    DeltaDou,
    DeltaSettings,
    endgame,
    evaluators,
    expansion,
    fpmcts,
    guessing,
    inference,
    lockstep,
)
from fogplay.bots.doudizhu.deltadou import Mind, look_around
from fogplay.bots.doudizhu.evaluators import by_networks, by_rules
from fogplay.bots.doudizhu.fpmcts import Evaluate
from fogplay.bots.doudizhu.inference import Situations, Worlds
from fogplay.cli import app
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, counts_of, num_cards, pack, unpack
from fogplay.games.doudizhu_worlds import less
from fogplay.play import Table
from fogplay.play.luck import Seeded
from fogplay.search.trees import best_action
from fogplay.simulators.doudizhu_features import (
    FACTS,
    HANDS,
    HEAD_WORDS,
    MOVES,
    OVER,
    PASSES,
    PLAYED,
    SEAT,
    SEEN,
    SHOWN,
    TO_BEAT,
    WORDS,
    look,
)
from fogplay.simulators.doudizhu_lanes import begin, make
from fogplay.simulators.doudizhu_policy import BELIEF, OUTPUTS, cards_of_move, draw_move, move_probability, ways_buffer
from fogplay.simulators.streams import many_streams
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network

TINY = DenseShape(SEEN, OUTPUTS, 8, 1)


def tiny_networks(seed: int = 0, scale: float = 0.3) -> list[Network]:
    rng = np.random.default_rng(seed)
    return [
        Network(TINY, {name: scale * rng.standard_normal(size) for name, size in TINY.arrays().items()}, {})
        for _ in range(3)
    ]


def played_on(seed: int, decks: int, most: int, evaluate: Evaluate) -> Situations:
    """Games of networks that draw their moves, each at some later move where at most ``most`` cards are hidden."""
    words, facts = np.zeros((decks, WORDS), np.uint64), np.zeros((decks, FACTS), np.int32)
    heads, cards = np.zeros((decks, inference.LONGEST), np.int16), np.zeros((decks, inference.LONGEST), np.uint64)
    rng, ways, found = np.array([seed, 7], np.uint64), ways_buffer(), []
    lockstep.deal_lanes(seed, 0, words, facts, rng.copy())
    going = np.arange(decks)
    while len(going):
        seen, legal = np.zeros((len(going), SEEN), np.int64), np.zeros((len(going), HEAD_WORDS), np.int64)
        lockstep.look_from(going, words, facts, seen, legal)
        seat = int(facts[going[0], SEAT])
        lockstep.move_by(going, words, facts, evaluate(seat, seen), legal, 1.0, ways, rng)
        lockstep.note(going, words, facts, heads, cards)
        going = going[facts[going, OVER] == 0]
        for lane in going:
            hands = words[lane, [HANDS + (facts[lane, SEAT] + step) % 3 for step in (1, 2)]]
            if sum(int(num_cards(hand)) for hand in hands) <= most:
                found.append((words[lane].copy(), facts[lane].copy(), heads[lane].copy(), cards[lane].copy()))
        going = np.array([lane for lane in going if not any((words[lane] == other[0]).all() for other in found)], int)
    return Situations(*(np.array(field) for field in zip(*found, strict=True)))


def hidden(own: Situations) -> Situations:
    """The same without the hands that the player to move does not see."""
    words = own.words.copy()
    for root, seat in enumerate(own.facts[:, SEAT]):
        words[root, [HANDS + (seat + 1) % 3, HANDS + (seat + 2) % 3]] = 0
    return own._replace(words=words)


# ---- Worlds


def every_world(words: NDArray[np.uint64], seat: int) -> dict[int, float]:
    """What the next player may hold, with the number of deals: a slow twin of the bounds and of the prior."""
    first, second = (seat + 1) % 3, (seat + 2) % 3
    gone = [int(words[PLAYED + each]) for each in range(3)]
    shown = [int(words[SHOWN]) if each == 0 else 0 for each in range(3)]
    unseen = int(FULL_DECK) - int(words[HANDS + seat]) - sum(gone)
    pool = int(FULL_DECK) - int(words[HANDS + seat]) - gone[seat] - shown[first] - shown[second]
    size = (20 if first == 0 else 17) - len(unpack(gone[first]))
    found: dict[int, float] = {}
    for counts in itertools.product(*(range(count + 1) for count in counts_of(unseen))):
        hand = pack(rank for rank, count in enumerate(counts) for _ in range(count))
        if sum(counts) != size:
            continue
        if less(shown[first], hand + gone[first]) or less(shown[second], unseen - hand + gone[second]):
            continue
        dealt = counts_of(hand + gone[first] - shown[first])
        found[hand] = math.prod(math.comb(there, count) for there, count in zip(counts_of(pool), dealt, strict=True))
    return found


def slow_likelihood(own: Situations, root: int, hands: Sequence[int], evaluate: Evaluate, heat: float) -> float:
    """The logarithm of the probability of all moves of the others, one after the other."""
    words, facts, found = np.zeros(WORDS, np.uint64), np.zeros(FACTS, np.int32), 0.0
    dealt = [np.uint64(hand) + own.words[root, PLAYED + seat] for seat, hand in enumerate(hands)]
    begin(words, facts, dealt[0] - own.words[root, SHOWN], dealt[1], dealt[2], own.words[root, SHOWN])
    for move in range(own.facts[root, MOVES]):
        seat, head, cards = int(facts[SEAT]), int(own.heads[root, move]), own.cards[root, move]
        if seat != own.facts[root, SEAT]:
            seen, legal = np.zeros((1, SEEN), np.int64), np.zeros(HEAD_WORDS, np.int64)
            look(words, facts, seat, seen[0], legal)
            outputs = evaluate(seat, seen)[0]
            found += move_probability(outputs, legal, words[HANDS + seat], head, cards, heat, ways_buffer())
        make(words, facts, head, cards)
    return found


THINKING = DeltaSettings().thinking._replace(
    below=21, proposals=20_000, different=1500, moves=192, heat=1.3, floor=1e-9, belief=0.0
)


def test_inference_is_exact_where_all_worlds_are_drawn() -> None:
    evaluate = by_networks(tiny_networks())
    own = hidden(played_on(3, 12, 9, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, _ = look_around(own, evaluate, rng)
    assert len(own.words) >= 10
    assert {0, 1, 2} == set(own.facts[:, SEAT])
    for trust in (0.0, 1.0):
        worlds = inference.infer(own, outputs, evaluate, THINKING._replace(trust=trust), rng)
        for root, seat in enumerate(own.facts[:, SEAT]):
            expected = every_world(own.words[root], int(seat))
            hands = worlds.hands[root, : worlds.number[root]]
            assert set(hands[:, (seat + 1) % 3].tolist()) == set(expected)
            for world in hands:
                chance = slow_likelihood(own, root, world.tolist(), evaluate, 1.3)
                expected[int(world[(seat + 1) % 3])] *= math.exp(chance)
            total = sum(expected.values())
            exact = [expected[hand] / total for hand in hands[:, (seat + 1) % 3].tolist()]
            assert worlds.weights[root, : len(exact)] == pytest.approx(exact, rel=2e-3)


def test_beliefs_alone_and_blended() -> None:
    """With belief 1 a world weighs as the product of the network's scores of its numbers says."""
    evaluate = by_networks(tiny_networks(2))
    own = hidden(played_on(4, 6, 8, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, _ = look_around(own, evaluate, rng)
    alone = inference.infer(own, outputs, evaluate, THINKING._replace(belief=1.0), rng)
    bayes = inference.infer(own, outputs, evaluate, THINKING, rng)
    blend = inference.infer(own, outputs, evaluate, THINKING._replace(belief=0.25), rng)
    for root, seat in enumerate(own.facts[:, SEAT]):
        by_hand = [
            dict(zip(w.hands[root, : w.number[root], (seat + 1) % 3].tolist(), w.weights[root], strict=False))
            for w in (alone, bayes, blend)
        ]
        scores = outputs[root, BELIEF:].reshape(NUM_RANKS, 5)
        exact = {
            hand: math.exp(sum(scores[rank, count] for rank, count in enumerate(counts_of(hand))))
            for hand in by_hand[0]
        }
        assert [by_hand[0][hand] * sum(exact.values()) for hand in exact] == pytest.approx([*exact.values()], rel=2e-3)
        mixed = {hand: by_hand[0][hand] ** 0.25 * by_hand[1][hand] ** 0.75 for hand in exact}
        assert [by_hand[2][hand] * sum(mixed.values()) for hand in exact] == pytest.approx([*mixed.values()], rel=5e-3)


def test_worlds_are_drawn_as_often_as_they_weigh() -> None:
    hands = np.arange(12, dtype=np.uint64).reshape(1, 4, 3)
    worlds = Worlds(np.array([3]), hands, np.array([[0.5, 0.3, 0.2, 0.0]]))
    drawn, rng = np.zeros((1, 1000, 3), np.uint64), many_streams(5, 1)
    inference.resample(worlds, drawn, np.zeros(1000, np.int64), rng)
    assert [int((drawn[0, :, 0] == 3 * world).sum()) for world in range(4)] == [500, 300, 200, 0]
    assert 150 < (drawn[0, :500, 0] == 0).sum() < 350  # in random order


def test_early_in_a_game_worlds_are_drawn_evenly() -> None:
    evaluate = by_networks(tiny_networks())
    own = hidden(played_on(6, 4, 34, evaluate))
    rng = many_streams(2, len(own.words))
    outputs, _ = look_around(own, evaluate, rng)
    thinking = THINKING._replace(below=0, different=800)
    worlds = inference.infer(own, outputs, evaluate, thinking, rng)
    for root, seat in enumerate(own.facts[:, SEAT]):
        sizes = {tuple(int(num_cards(hand)) for hand in world) for world in worlds.hands[root]}
        gone = [len(unpack(int(own.words[root, PLAYED + each]))) for each in range(3)]
        assert sizes == {(20 - gone[0], 17 - gone[1], 17 - gone[2])}
        assert worlds.weights[root] == pytest.approx(1 / 800)
        sums = worlds.hands[root].sum(1) + own.words[root, PLAYED : PLAYED + 3].sum()
        assert (sums == FULL_DECK).all()
        assert (worlds.hands[root, :, seat] == own.words[root, HANDS + seat]).all()


def test_even_guesses_are_exact() -> None:
    own = hidden(played_on(12, 5, 9, by_networks(tiny_networks())))
    for words, facts in zip(own.words, own.facts, strict=True):
        expected = np.zeros((NUM_RANKS, 5))
        for hand, deals in every_world(words, int(facts[SEAT])).items():
            expected[np.arange(NUM_RANKS), counts_of(hand)] += deals
        exact = expected / expected.sum(1, keepdims=True)
        assert guessing.even_marginals(words, int(facts[SEAT])) == pytest.approx(exact)


def test_hands_are_guessed_better_by_who_knows_the_players() -> None:
    """The players draw from sharp random networks: with these, inference tells much; with others, nothing good."""
    true, false = by_networks(tiny_networks(5, 2.0)), by_networks(tiny_networks(6, 2.0))
    own = guessing.self_play(true, 12, 3, 0.2, heat=1.0)
    thinking = THINKING._replace(proposals=200, different=100, trust=0.0, heat=1.0, floor=0.01)
    known, unknown = (guessing.measure(own, evaluate, thinking) for evaluate in (true, false))
    assert known.positions == unknown.positions >= 20
    assert known.evenly == unknown.evenly
    assert known.inferred < known.evenly - 2 * known.error
    assert known.inferred < unknown.inferred


# ---- Search


def uniform_evaluator(_seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.zeros((len(seen), OUTPUTS), np.float32)


def endings(count: int, cards: int) -> list[tuple[list[int], int]]:
    """Open endings in which the player to lead wins, but not with every move."""
    rng, found = np.random.default_rng(9), []
    while len(found) < count:
        deck = rng.permutation(unpack(int(FULL_DECK)))
        sizes = rng.multinomial(cards - 6, [1 / 3] * 3) + 2
        hands = [pack(map(int, deck[3 * 8 * seat : 3 * 8 * seat + sizes[seat]])) for seat in range(2)]
        hands.append(pack(map(int, deck[48 : 48 + min(sizes[2], 6)])))
        seat = int(rng.integers(3))
        values = values_of_moves(hands, seat)
        if max(values.values()) > 0 > min(values.values()):
            found.append((hands, seat))
    return found


def values_of_moves(hands: list[int], seat: int) -> dict[int, float]:
    """By the solver, for the side to move: the value after each move, by its cards."""
    from fogplay.games.doudizhu_moves import legal_moves

    scratch, sign = endgame.search(False), 1 if seat == 0 else -1
    return {
        int(cards): sign * endgame.value_of_move(np.array(hands, np.uint64), seat, 0, 0, head, cards, scratch)
        for head, cards in zip(*legal_moves(hands[seat], 0), strict=True)
    }


def searched(hands: list[int], seat: int, playouts: int, evaluate: Evaluate, points: float = 0.0) -> fpmcts.Searches:
    """A search where the only world is the real one."""
    settings = DeltaSettings()
    own = fpmcts.searches(1, playouts, 4, 256, 64)
    own.words[0, HANDS : HANDS + 3] = hands
    own.facts[0, SEAT], own.facts[0, TO_BEAT], own.facts[0, PASSES] = seat, 0, 0
    own.worlds[0], own.wanted[0], own.rng[0] = hands, playouts, (1, 2)
    seen, legal = np.zeros((1, SEEN), np.int64), np.zeros(HEAD_WORDS, np.int64)
    look(own.words[0], own.facts[0], seat, seen[0], legal)
    weights = settings.weights._replace(points=points)
    expansion.plant(own, 0, evaluate(seat, seen)[0], legal, weights)
    fpmcts.search(own, 1, evaluate, settings.rule._replace(exploration=6.0, reduction=0.0), weights)
    return own


def test_open_endgames_are_won_as_the_solver_wins_them() -> None:
    """Against others who move at random in the search, only a move that wins for sure keeps its value."""
    good = 0
    for hands, seat in endings(30, 9):
        own = searched(hands, seat, 2000, uniform_evaluator)
        cards = int(own.cards[0, 0, best_action(own.trees, 0)])
        good += values_of_moves(hands, seat)[cards] > 0
        assert own.trees.tried[0, 0].sum() == 2000
        assert not own.trees.flying[0].any()
    assert good >= 29


def test_the_search_counts_wins_and_points() -> None:
    """The landlord's rocket wins: 2 points for 1 won game, so 4/3 in the search's own unit, and a win rate of 1."""
    own = searched([pack([13, 14]), pack([0, 0]), pack([1, 2])], 0, 20, uniform_evaluator, 0.5)
    assert own.trees.num_actions[0, 0] == 1  # nothing else is looked at
    assert own.trees.total[0, 0, 0] == pytest.approx(20 * 4 / 3)
    assert own.trees.wins[0, 0, 0] == 20


def test_positions_do_not_depend_on_those_beside_them() -> None:
    own = hidden(played_on(8, 12, 30, by_rules()))
    settings = DeltaSettings(playouts=40, parallel=4)
    together = Mind(by_rules(), settings).think(own, many_streams(3, len(own.words)))
    assert len(together.searched) >= 4
    alone = Mind(by_rules(), settings)
    for root, stream in enumerate(many_streams(3, len(own.words))):
        decided = alone.think(Situations(*(field[root : root + 1] for field in own)), stream[None])
        assert decided.cards[0] == together.cards[root]
        if root in together.searched:
            place = int(np.flatnonzero(together.searched == root)[0])
            count = decided.searches.trees.num_actions[0, 0]
            both = ((decided.searches, 0), (together.searches, place))
            tried = [own.trees.tried[at, 0, :count].tolist() for own, at in both]
            assert tried[0] == tried[1]


def test_hidden_cards_do_not_matter() -> None:
    """The same position with other hands for the others: the same move, after the same search."""
    evaluate = by_networks(tiny_networks(3, 1.0))
    own = played_on(11, 8, 24, evaluate)
    rng = many_streams(4, len(own.words))
    outputs, _ = look_around(hidden(own), evaluate, rng)
    worlds = inference.infer(hidden(own), outputs, evaluate, THINKING._replace(below=0, different=1), rng)
    other = own._replace(words=own.words.copy())
    other.words[:, HANDS : HANDS + 3] = worlds.hands[:, 0]
    assert (other.words != own.words).any(1).sum() >= 6
    mind = Mind(evaluate, DeltaSettings(playouts=30))
    first, second = (mind.think(hidden(each), many_streams(6, len(own.words))).cards.tolist() for each in (own, other))
    assert first == second


def test_without_playouts_the_networks_best_move_is_made() -> None:
    evaluate = by_networks(tiny_networks(7, 0.5))
    own = hidden(played_on(5, 20, 30, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, legal = look_around(own, evaluate, rng)
    decided, wins = Mind(evaluate, DeltaSettings(playouts=0)).think(own, rng), 0
    for root, seat in enumerate(own.facts[:, SEAT]):
        hand = own.words[root, HANDS + seat]
        head, kickers, _ = draw_move(outputs[root], legal[root], hand, 0.0, ways_buffer(), rng[root])
        wins += decided.cards[root] == hand != cards_of_move(head, kickers)
        assert decided.cards[root] in (cards_of_move(head, kickers), hand)
    assert wins < len(own.words) / 2
    assert len(decided.searched) == 0


def test_a_deadline_ends_a_search() -> None:
    view = Table(Doudizhu(), Seeded(2)).view(0)
    agent = DeltaDou(DeltaSettings(playouts=100_000), by_rules())
    agent.act(view_with(view, 0.0))  # compiles
    began = time.monotonic()
    late = view_with(view, began + 0.3)
    assert agent.act(late) in late.legal
    assert time.monotonic() - began < 20.0  # 100,000 playouts take minutes


def view_with(view: Any, deadline: float) -> Any:
    view.deadline = deadline
    return view


# ---- At the table


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, network in zip(evaluators.SEATS, tiny_networks(), strict=True):
        network.save(tmp_path / f"{name}.safetensors")
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path)
    return tmp_path


def test_bots_are_found_with_their_playouts(folder: Path) -> None:
    one, two, policy = resolve(["deltadou", "deltadou:7", "deltadou-policy"], Doudizhu())
    assert (one.mind.settings.playouts, two.mind.settings.playouts, policy.mind.settings.playouts) == (200, 7, 0)
    assert len(set(names_of(["deltadou:7", "deltadou:8"]))) == 2
    with pytest.raises(FogplayError, match="deltadou:many: write a number of playouts, such as deltadou:600"):
        resolve(["deltadou:many"], Doudizhu())
    with pytest.raises(FogplayError, match="the number of playouts must be from 1 to 100,000"):
        resolve(["deltadou:0"], Doudizhu())


def test_damaged_and_foreign_networks_are_refused(folder: Path) -> None:
    whole = (folder / "after.safetensors").read_bytes()
    (folder / "after.safetensors").write_bytes(whole[:-100])
    with pytest.raises(FogplayError, match=r"after\.safetensors") as refused:
        DeltaDou()
    assert "\n" not in str(refused.value)
    shape = DenseShape(3, 5, 4, 1)
    Network(shape, {name: np.zeros(size) for name, size in shape.arrays().items()}, {}).save(
        folder / "after.safetensors"
    )
    with pytest.raises(FogplayError, match="network of the after has 3 words and 5 outputs; Doudizhu needs 32 and 476"):
        DeltaDou()


def test_without_networks_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path / "none")
    with pytest.raises(FogplayError, match=r"which this installation lacks: there is no folder .*none"):
        resolve(["deltadou"], Doudizhu())
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path)
    with pytest.raises(FogplayError, match=r"landlord\.safetensors"):
        resolve(["deltadou"], Doudizhu())


def test_advice_says_what_the_others_may_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--hand", "33445566778899TTJJQK", "--shown", "3JK", "--history", "", "--agent", "deltadou:20"]
    app(["advise", "doudizhu", *words], standalone_mode=False)
    told = capsys.readouterr().out
    assert "It expects the peasant after the landlord to hold 17 cards:" in told.replace("\n", " ")
    assert "the peasant before the landlord" in told.replace("\n", " ")


@pytest.mark.parametrize("number", ["playouts=-1", "parallel=0", "actions=1"])
def test_impossible_settings_are_refused(number: str) -> None:
    name, _, value = number.partition("=")
    with pytest.raises(FogplayError, match=f"deltadou: {name} must be from"):
        DeltaDou(DeltaSettings()._replace(**{name: int(value)}), by_rules())
