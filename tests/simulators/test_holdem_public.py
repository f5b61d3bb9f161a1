"""Hold'em learned from sampled boards: convergence in small decks by the tree, regrets against a slow twin."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.cards.deck import parse_card
from fogplay.evaluate import measure
from fogplay.games.holdem import Holdem, hand_strength
from fogplay.games.registry import load
from fogplay.simulators import holdem_public, simulator_for
from fogplay.simulators.holdem_boards import Deck, pairs
from fogplay.simulators.holdem_lines import lanes_of
from fogplay.simulators.holdem_public import PublicGame, Seen
from fogplay.trees import flatten
from fogplay.trees.betting import betting_tree, node_after

SMALL = [
    "holdem(rounds=2,ranks=4,suits=2,board=[0,2],raises=[10,20],max_raises=[2,3])",
    "holdem(rounds=3,ranks=3,suits=3,board=[0,1,1],raises=[10,10,20],max_raises=[0,1,1])",
]


class Cards:
    """What a player knows in a small deck: a number for each hand and board, all told apart, or ``most`` groups."""

    def __init__(self, rules: Holdem, most: int | None = None) -> None:
        self.rules, self.deck, self.most = rules, Deck(rules.ranks, rules.suits), most
        self.known: list[dict[Any, int]] = [{} for _ in range(rules.rounds)]
        for street, known in enumerate(self.known):
            for board in self._boards(street):
                for pair in pairs(self.deck).tolist():
                    if not set(pair) & set(board):
                        self._number(known, street, tuple(pair), board)
        counts = [len(known) if most is None else most for known in self.known]
        self.seen = Seen(self.buckets, counts)

    def _boards(self, street: int) -> Any:
        sizes = self.rules.board[: street + 1]
        for cards in itertools.permutations(range(self.deck.cards), sum(sizes)):
            if all(part == sorted(part) for part in self._parts(street, cards)):
                yield cards

    def _parts(self, street: int, board: tuple[int, ...]) -> list[list[int]]:
        cuts = [0, *itertools.accumulate(self.rules.board[: street + 1])]
        return [list(board[a:b]) for a, b in itertools.pairwise(cuts)]

    def _number(self, known: dict[Any, int], street: int, hand: tuple[int, ...], board: tuple[int, ...]) -> int:
        key = (tuple(sorted(hand)), *(tuple(sorted(part)) for part in self._parts(street, board)))
        return known.setdefault(key, len(known))

    def bucket(self, street: int, hand: tuple[int, ...], board: tuple[int, ...]) -> int:
        number = self._number(self.known[street], street, hand, board)
        return number if self.most is None else number * 7919 % self.most

    def buckets(self, street: int, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        found = np.zeros((len(boards), self.deck.hands), np.uint16)
        for number, board in enumerate(boards.tolist()):
            for hand, pair in enumerate(pairs(self.deck).tolist()):
                if not set(pair) & set(board):
                    found[number, hand] = self.bucket(street, tuple(pair), tuple(board))
        return found

    def on_tree(self, flat: Any, betting: Any, weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """[slots] what was learned, in the game's tree."""
        probabilities = np.zeros(flat.num_slots)
        for number, name in enumerate(flat.infosets):
            rounds = [each.split(":") for each in name.split("/")]
            hand, *turned = (self._cards(cards) for cards, _ in rounds)
            bucket = self.bucket(len(rounds) - 1, hand, tuple(itertools.chain(*turned)))
            node = betting.nodes[node_after(betting, [letters for _, letters in rounds])]
            first = int(node["slot"]) + bucket * int(node["stride"])
            found = weights[first : first + int(node["count"])].astype(np.float64)
            probabilities[flat.slots(number)] = found / found.sum() if found.sum() > 0 else 1 / len(found)
        return probabilities

    def _cards(self, text: str) -> tuple[int, ...]:
        numbers = [parse_card(text[at : at + 2]) for at in range(0, len(text), 2)]
        return tuple(number // 4 * self.deck.suits + number % 4 for number in numbers)


@functools.cache
def flat_of(spec: str) -> Any:
    return flatten(spec)


@functools.cache
def cards_of(spec: str, most: int | None = None) -> Cards:
    return Cards(load(spec), most)


def _game(spec: str, most: int | None = None, rival: bool = False, threads: int = 1) -> tuple[PublicGame, Cards]:
    rules, cards = load(spec), cards_of(spec, most)
    counted = Counted(rules, tuple(cards.seen.counts))
    opponent = cards_of(spec).seen if rival else None
    return PublicGame(rules, betting_tree(counted), cards.seen, opponent, threads), cards


class Counted:
    """Rules with other numbers of buckets, for the layout of the learner's tables."""

    def __init__(self, rules: Holdem, counts: tuple[int, ...]) -> None:
        self.rules, self.counts = rules, counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)

    def buckets(self) -> tuple[int, ...]:
        return self.counts


@pytest.mark.parametrize("rival", [False, True])
def test_it_comes_close_to_an_equilibrium(rival: bool) -> None:
    spec, found = SMALL[0], []
    game, cards = _game(spec, rival=rival)
    for iteration in range(1, 2001):
        game.learn(iteration, seed=1)
        if iteration in (125, 2000):
            found.append(measure(flat_of(spec), cards.on_tree(flat_of(spec), game.betting, game.weights())).nash_conv)
    assert found[1] < found[0] / 5
    assert found[1] < 1.2  # chips, where blinds are 10 and 5


@pytest.mark.slow
@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize("rival", [False, True])
def test_it_comes_very_close_with_time(spec: str, rival: bool) -> None:
    game, cards = _game(spec, rival=rival)
    for iteration in range(1, 20_001):
        game.learn(iteration, seed=1)
    assert measure(flat_of(spec), cards.on_tree(flat_of(spec), game.betting, game.weights())).nash_conv < 0.5


def test_an_opponent_that_answers_best_makes_a_blind_player_safer() -> None:
    spec, flat, found = SMALL[0], flat_of(SMALL[0]), {}
    for rival in (False, True):
        game, cards = _game(spec, most=3, rival=rival)
        for iteration in range(1, 1501):
            game.learn(iteration, seed=2)
        found[rival] = measure(flat, cards.on_tree(flat, game.betting, game.weights())).nash_conv
    assert found[True] < 0.9 * found[False]


@pytest.mark.parametrize("rival", [False, True])
def test_the_number_of_threads_changes_nothing(rival: bool) -> None:
    made = []
    for threads in (1, 3):
        game, _ = _game(SMALL[0], most=5, rival=rival, threads=threads)
        for iteration in range(1, 6):
            game.learn(iteration, seed=3)
        made.append(game.tables())
    assert made[0].keys() == made[1].keys()
    assert all((made[0][name] == made[1][name]).all() for name in made[0])


def test_lanes_that_stay_together_learn_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for aligned in (True, False):
        chosen = {"aligned": aligned}
        monkeypatch.setattr(holdem_public, "lanes_of", lambda *given, **more: lanes_of(*given, **(more | chosen)))  # noqa: B023
        game = simulator_for("holdem(grid=ehs2:169/4/4/4)").public_game("ehs2:169/8/8/1", 1, "cpu")
        turn = game.lines.lanes[0][2].ahead
        assert bool((turn[:16, 1] == 64 + np.arange(16)).all()) == aligned
        for iteration in (1, 2, 3):
            game.learn(iteration, seed=1)
        made.append(game.weights())
    assert np.count_nonzero(made[0]) > 1000
    assert np.array_equal(*made)


def test_a_game_goes_on_from_its_tables() -> None:
    whole, half = _game(SMALL[0], most=5, rival=True)[0], _game(SMALL[0], most=5, rival=True)[0]
    rest = _game(SMALL[0], most=5, rival=True)[0]
    for iteration in range(1, 9):
        whole.learn(iteration, seed=4)
    for iteration in range(1, 5):
        half.learn(iteration, seed=4)
    rest.restore({name: table.copy() for name, table in half.tables().items()})
    for iteration in range(5, 9):
        rest.learn(iteration, seed=4)
    assert all((table == rest.tables()[name]).all() for name, table in whole.tables().items())


def test_a_board_without_weight_changes_nothing() -> None:
    game, _ = _game(SMALL[0], most=5)
    game.learn(1, seed=5)
    before = {name: table.copy() for name, table in game.tables().items()}
    game.compile()
    assert all((table == game.tables()[name]).all() for name, table in before.items())


# ---- A slow twin


class Twin:
    """The same regrets by walking every pair of hands through the betting tree of a board, in plain Python."""

    def __init__(self, game: PublicGame, cards: Cards) -> None:
        self.game, self.cards, self.nodes = game, cards, game.betting.nodes
        self.regret, self.average = np.zeros(game.betting.num_slots), np.zeros(game.betting.num_slots)
        self.gain, self.added = np.zeros_like(self.regret), np.zeros_like(self.regret)

    def learn_on(self, board: list[int], weight: float) -> None:
        self.gain[:], self.added[:] = 0, 0
        free = [tuple(pair) for pair in pairs(self.cards.deck).tolist() if not set(pair) & set(board)]
        for mine, theirs in itertools.permutations(free, 2):
            if not set(mine) & set(theirs):
                self.walk(0, (mine, theirs), board, [1.0, 1.0])
        for hand in free:  # the average has each hand once, whatever the other holds
            for seat in range(2):
                self.mean(0, seat, hand, board, 1.0)
        self.regret += weight * self.gain
        self.average += weight * self.added

    def place(self, node: Any, hand: tuple[int, ...], board: list[int]) -> slice:
        street = int(node["street"])
        known = tuple(board[: sum(self.cards.rules.board[: street + 1])])
        first = int(node["slot"]) + self.cards.bucket(street, hand, known) * int(node["stride"])
        return slice(first, first + int(node["count"]))

    def strategy(self, place: slice) -> NDArray[np.float64]:
        positive = np.maximum(self.regret[place], 0)
        return positive / positive.sum() if positive.sum() > 0 else np.full(len(positive), 1 / len(positive))

    def mean(self, number: int, seat: int, hand: tuple[int, ...], board: list[int], reach: float) -> None:
        node = self.nodes[number]
        if node["player"] < 0:
            return
        played = np.ones(int(node["count"]))
        if node["player"] == seat:
            played = self.strategy(self.place(node, hand, board))
            self.added[self.place(node, hand, board)] += reach * played
        for action, share in enumerate(played):
            self.mean(int(node["first_child"]) + action, seat, hand, board, reach * share)

    def walk(self, number: int, hands: Any, board: list[int], reach: list[float]) -> float:
        """What the first player wins."""
        node = self.nodes[number]
        if node["player"] < 0:
            paid = [int(node["slot"]) >> 16 * seat & 65535 for seat in range(2)]
            if node["in_hand"] != 3:
                return float(paid[1] if node["in_hand"] == 1 else -paid[0])
            strength = [hand_strength(self.cards.rules, (*hand, *board)) for hand in hands]
            return float(paid[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1])))
        seat = int(node["player"])
        place = self.place(node, hands[seat], board)
        played = self.strategy(place)
        worth = np.zeros(len(played))
        for action, share in enumerate(played):
            onward = [reach[each] * (share if each == seat else 1.0) for each in range(2)]
            worth[action] = self.walk(int(node["first_child"]) + action, hands, board, onward)
        value = float(played @ worth)
        self.gain[place] += (1 if seat == 0 else -1) * reach[1 - seat] * (worth - value)
        return value


def test_regrets_and_averages_are_those_of_a_slow_twin() -> None:
    game, cards = _game(SMALL[1], most=4)
    twin, rng = Twin(game, cards), np.random.default_rng(6)
    for iteration in range(1, 5):
        board = rng.permutation(game.deck.cards)[:2].astype(np.uint8)
        game.learn_on(board, float(iteration))
        twin.learn_on(board.tolist(), float(iteration))
    assert game.weights() == pytest.approx(twin.average, rel=1e-4, abs=1e-4)
    assert twin.average.max() > 10
