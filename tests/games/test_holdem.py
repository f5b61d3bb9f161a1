"""Hold'em: hands by hand, and thousands of random ones beside OpenSpiel's universal_poker and pokerkit."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyspiel
import pytest
from pokerkit import Automation, FixedLimitTexasHoldem

from fogplay.cards import tables
from fogplay.cards.deck import card_name, parse_cards
from fogplay.cards.tables import strength_of
from fogplay.errors import FogplayError
from fogplay.games import CHANCE, State, load
from fogplay.games.holdem import CALL, FOLD, RAISE, Holdem, HoldemState
from fogplay.trees import flatten

from .specs import actions_of, play

SMALL = [
    "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])",
    "holdem(rounds=3,ranks=4,suits=3,hole=2,board=[0,3,1])",
    "holdem(rounds=4,ranks=5,suits=2,hole=1,board=[0,1,1,1],raises=[2,2,4,4],blinds=[2,1],max_raises=[1,2,3,1])",
    "holdem(players=3,rounds=2,ranks=3,suits=2,hole=1,board=[0,1])",
    "holdem(players=3,rounds=3,ranks=4,suits=4,hole=2,board=[0,3,1])",
    "holdem(players=3,rounds=4,ranks=6,suits=2,hole=2,board=[0,1,1,1])",
]


def dealt(game: Holdem, hands: Sequence[str], board: str = "") -> State:
    """The state after the hole cards are dealt; ``board`` comes when it is its turn."""
    state = game.new_initial_state()
    for hand in hands:
        for card in sorted(parse_cards(hand)):
            state = state.child(card)
    return state


def bet(state: State, moves: str, board: str = "") -> State:
    """Play ``cr/cc`` and so on, with the cards of ``board`` turned up in order."""
    cards = list(parse_cards(board))
    for letter in moves.replace("/", ""):
        while state.current_player() == CHANCE:
            _, size = state._set_being_dealt()
            for card in sorted(cards[:size]):
                state = state.child(card)
            del cards[:size]
        state = state.child("fcr".index(letter))
    return state


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        ("f", [5.0, -5.0]),
        ("rf", [-10.0, 10.0]),
        ("cc/cc/cc/cc", [10.0, -10.0]),
        ("crc/rf", [20.0, -20.0]),
        ("rrrc/rrrrc/rrrrc/rrrrc", [240.0, -240.0]),
        ("cc/cc/cc/rrf", [-30.0, 30.0]),
    ],
)
def test_two_players(moves: str, returns: list[float]) -> None:
    """Seat 0 is the big blind with the better hand; seat 1, the button, acts first before the flop."""
    start = dealt(load("holdem"), ["AsAh", "KsKh"])
    assert start.current_player() == 1
    end = bet(start, moves, "2c7d8h9sJc")
    assert end.is_terminal()
    assert end.returns() == returns


def test_who_acts_and_what_is_legal() -> None:
    state = dealt(load("holdem"), ["AsAh", "KsKh"])
    seen = []
    for letter in "crrrc":
        seen.append((state.current_player(), state.legal_actions(), state.paid))
        state = state.child("fcr".index(letter))
    assert seen == [
        (1, (FOLD, CALL, RAISE), (10, 5)),
        (0, (CALL, RAISE), (10, 10)),  # the big blind's option
        (1, (FOLD, CALL, RAISE), (20, 10)),
        (0, (FOLD, CALL, RAISE), (20, 30)),
        (1, (FOLD, CALL), (40, 30)),  # four bets, the blind one of them
    ]
    assert state.current_player() == CHANCE
    state = bet(state, "r", "2c7d8h")
    assert state.current_player() == 1
    assert state.paid == (50, 40)


def test_three_players() -> None:
    start = dealt(load("holdem(players=3)"), ["AsKh", "AdKc", "QsQh"])
    assert start.current_player() == 2
    assert bet(start, "ff").returns() == [-5.0, 5.0, 0.0]
    board = "Ah2c3d9s9c"
    assert bet(start, "ccc/ccc/ccc/ccc", board).returns() == [5.0, 5.0, -10.0]  # aces split
    assert bet(start, "rcf/rf", board).returns() == [30.0, -10.0, -20.0]
    assert bet(start, "cfc/rc/cc/cc", board).returns() == [-5.0, 25.0, -20.0]
    same = bet(start, "rrrcc/rrrrcc/rrrrcc/rrrrcc", "2h3h4h5h6h")  # the board plays
    assert same.paid == (240, 240, 240)
    assert same.returns() == [0.0, 0.0, 0.0]
    # Seat 0 folds on the flop; seat 1 acts first from then on.
    state = bet(start, "ccc/crcf", board).child(parse_cards("9s")[0])
    assert state.current_player() == 1


def test_outlook_is_pot_and_what_can_come() -> None:
    """Section 4.3 of 2015 in big blinds: c = pot + k * potential lies in [10, 24.75] before the cap of 24."""
    state = dealt(load("holdem"), ["AsAh", "KsKh"])
    assert state.betting_outlook() == (15, 465)
    assert bet(state, "cr").betting_outlook() == (15, 465)
    assert bet(state, "cc/c", "2c7d8h").betting_outlook() == (20, 400)
    assert bet(state, "cc/cc/cc/c", "2c7d8h9sJc").betting_outlook() == (20, 160)
    three = dealt(load("holdem(players=3)"), ["AsKh", "AdKc", "QsQh"])
    assert three.betting_outlook() == (15, 705)
    assert bet(three, "cfc/c", "2c7d8h").betting_outlook() == (25, 400)


def test_what_a_player_sees() -> None:
    state = dealt(load("holdem(grid=exact)"), ["AsAh", "KsKh"])
    assert state.information_state_string(1) == "KhKs:"
    assert bet(state, "crc/r", "8h2c7d").information_state_string(1) == "KhKs:crc/2c7d8h:r"
    state = bet(state, "cc/cc/c", "8h2c7dAc")
    assert state.information_state_string(1) == "KhKs:cc/2c7d8h:cc/Ac:c"
    assert state.features() == {
        "phase": 2, "seat": 0, "raises": 0, "raises this round": 0, "own raises": 0, "rank": 11, "hand": 1,
    }  # fmt: skip
    buckets = dealt(load("holdem"), ["AsAh", "KsKh"])
    assert buckets.information_state_string(1) == f"{14 * 11}:"
    assert bet(buckets, "crc/r", "8h2c7d").features()["bucket"] == buckets_of("KsKh", "8h2c7d")
    assert bet(buckets, "crf").unseen(0) == [2, 3]
    assert bet(buckets, "cc/cc/cc/cc", "8h2c7dAc2s").unseen(0) == []


def buckets_of(hole: str, board: str) -> int:
    """One of a thousand of equal width."""
    return int(strength_of(tables.load("ehs2"), parse_cards(hole), parse_cards(board)) * 1000)


def test_every_set_of_cards_is_equally_likely() -> None:
    game = load("holdem(rounds=2,ranks=3,suits=2,hole=2,board=[0,2])")
    chances: dict[tuple[int, ...], Fraction] = {}

    def deal(state: HoldemState, chance: Fraction) -> None:
        if state.current_player() != CHANCE:
            chances[state.cards] = chance
            return
        for card, probability in state.chance_outcomes():
            deal(state.child(card), chance * Fraction(probability).limit_denominator(1000))

    deal(game.new_initial_state(), Fraction(1))
    assert set(chances.values()) == {Fraction(1, 15 * 6)}
    assert set(chances) == {
        (*mine, *theirs)
        for mine in combinations(range(6), 2)
        for theirs in combinations(sorted(set(range(6)) - set(mine)), 2)
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("holdem(4)", "holdem: players must be a whole number from 2 to 3, not 4"),
        ("holdem(rounds=5)", "holdem: rounds must be a whole number from 1 to 4, not 5"),
        ("holdem(board=[0,3])", r"holdem: board must be a list of 4 whole numbers, such as \[10,5,0,0\], not \(0, 3\)"),
        ("holdem(raises=10)", r"holdem: raises must be a list of 4 whole numbers, such as \[10,5,0,0\], not 10"),
        ("holdem(raises=[0,1,1,1])", "holdem: raises must be a whole number from 1 to 60000, not 0"),
        ("holdem(blinds=[1,2,3])", "holdem: blinds must have 2 numbers, one per player, not 3"),
        ("holdem(board=[0,3,1,2])", "holdem: hole cards and board must be at most 7 cards, not 8"),
        ("holdem(ranks=2)", "holdem: a hand needs 9 cards, but the deck has 8"),
        ("holdem(ranks=12,grid=ehs:1/1/1/1)", "holdem: buckets need 52 cards.*set grid=exact"),
        ("holdem(grid=fine)", "'fine' is not a grid.*"),
        ("holdem(raises=[30000,10,10,10])", "holdem: a player could pay 90,130 chips, more than 60,000"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=f"^{message}$"):
        load(spec)


@pytest.mark.parametrize("spec", ["holdem", "holdem(players=3)", "holdem(grid=exact)"])
def test_the_whole_game_is_refused_as_a_tree_at_once(spec: str) -> None:
    with pytest.raises(FogplayError, match=r"too large for a tree; it is played and trained by sampling \(uct, smooth"):
        flatten(spec)


# ---- Beside others


def universal_poker(game: Holdem) -> Any:
    """The same game of OpenSpiel's, which is the competition's own code."""

    def words(numbers: Sequence[int]) -> str:
        return " ".join(map(str, numbers))

    return pyspiel.load_game(
        "universal_poker",
        {
            "betting": "limit",
            "numPlayers": game.players,
            "numRounds": game.rounds,
            "blind": words(game.blinds),
            "firstPlayer": words([game.players, *[1] * (game.rounds - 1)]),
            "numSuits": game.suits,
            "numRanks": game.ranks,
            "numHoleCards": game.hole,
            "numBoardCards": words(game.board),
            "raiseSize": words(game.raises),
            "maxRaises": words(game.max_raises),
            "stack": words([1_000_000] * game.players),
        },
    )


@pytest.mark.parametrize(
    ("spec", "hands"), [("holdem", 3000), ("holdem(players=3)", 2000), *((spec, 1000) for spec in SMALL)]
)
def test_random_hands_as_in_openspiel(spec: str, hands: int) -> None:
    """Who acts, what is legal, what is in the pot, and what everybody wins."""
    game, rng = load(spec), random.Random(spec)
    theirs = universal_poker(game)
    splits = 0
    for _ in range(hands):
        mine, other = game.new_initial_state(), theirs.new_initial_state()
        while not mine.is_terminal():
            assert mine.current_player() == other.current_player()
            actions = actions_of(mine)
            if mine.is_chance_node():
                cards, chances = zip(*mine.chance_outcomes(), strict=True)
                action = rng.choices(cards, chances)[0]
                assert action in other.legal_actions()
            else:
                assert actions == other.legal_actions()
                spent = [int(word.split(": ")[1]) for word in _spent(other)]
                assert list(mine.paid) == spent
                action = rng.choices(actions, [1 if each == FOLD else 4 for each in actions])[0]
            mine, other = mine.child(action), other.child(action)
        assert other.is_terminal()
        assert mine.returns() == pytest.approx(other.returns(), abs=1e-9)
        splits += sum(mine.in_hand) > sum(payoff > 0 for payoff in mine.returns()) == 0
    assert splits > 0 or game.suits == 1


def _spent(state: Any) -> list[str]:
    line = next(line for line in str(state).splitlines() if line.startswith("Spent:"))
    return line.removeprefix("Spent: [").rstrip("] ").split("  ")


AUTOMATIONS = tuple(
    each
    for each in Automation
    if each not in (Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.RUNOUT_COUNT_SELECTION)
)


@pytest.mark.parametrize("players", [2, 3])
def test_random_hands_as_in_pokerkit(players: int) -> None:
    """There the big blind does not count as a bet, so ours may raise once more before the flop."""
    game, rng = load(f"holdem(players={players},max_raises=[4,4,4,4])"), random.Random(players)
    for _ in range(700):
        mine = game.new_initial_state()
        theirs = FixedLimitTexasHoldem.create_state(AUTOMATIONS, True, 0, (5, 10), 10, 20, 10_000, players)
        street: list[int] = []
        while not mine.is_terminal():
            if mine.is_chance_node():
                cards, chances = zip(*mine.chance_outcomes(), strict=True)
                card = rng.choices(cards, chances)[0]
                street.append(card)
                mine = mine.child(card)
                continue
            if street:
                _deal(theirs, street, players)
                street = []
            assert mine.current_player() == theirs.actor_index
            assert list(mine.paid) == [10_000 - stack for stack in theirs.stacks]
            legal = [FOLD] * theirs.can_fold() + [CALL] * theirs.can_check_or_call()
            legal += [RAISE] * theirs.can_complete_bet_or_raise_to()
            assert list(mine.legal_actions()) == legal
            action = rng.choices(legal, [1 if each == FOLD else 4 for each in legal])[0]
            if action == FOLD:
                theirs.fold()
            elif action == CALL:
                theirs.check_or_call()
            else:
                theirs.complete_bet_or_raise_to()
            mine = mine.child(action)
        assert not theirs.status
        # pokerkit pays odd chips of a split pot to single players
        assert mine.returns() == pytest.approx([stack - 10_000 for stack in theirs.stacks], abs=2)


def _deal(state: Any, cards: list[int], players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if state.can_deal_hole():
            for player in range(players):
                state.deal_hole("".join(map(card_name, cards[2 * player : 2 * player + 2])))
            return
        state.deal_board("".join(map(card_name, cards)))


def test_leduc_like_game_by_hand() -> None:
    game = load(SMALL[0])
    end = play(game, "deal 2c", "deal 3c", "call", "call", "deal 2d", "raise", "call")
    assert end.returns() == [20.0, -20.0]  # a pair of deuces
    assert play(game, "deal 4c", "deal 4d", "raise", "call", "deal 2d", "call", "call").returns() == [0.0, 0.0]
