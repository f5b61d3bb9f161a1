"""The game of Doudizhu: scores, bidding, spring, what a player sees, and worlds that it holds possible."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu, DoudizhuState, Position, move_name, move_number, why_illegal
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, counts_of, deck_copies, num_cards, pack, show
from fogplay.games.doudizhu_heads import LEAD, head_of
from fogplay.games.doudizhu_worlds import draw_hands, less
from fogplay.notation.doudizhu import parse_cards, parse_move
from fogplay.play import Seeded, Table

from .specs import chosen, playout

DECK = [rank for rank in range(NUM_RANKS) for _ in range(deck_copies(rank))]


def ending(hands: str, landlord_moves: str = "", **options: Any) -> DoudizhuState:
    """A position at the landlord's turn to lead, with few cards left, everything else played by seat 0."""
    cards = tuple(parse_cards(hand) for hand in hands.split())
    played = (int(FULL_DECK) - sum(cards), 0, 0)
    at = Position(cards, 54, parse_cards("345"), landlord=0, player=0, played=played)
    return DoudizhuState(Doudizhu(**options), at)


def after(state: DoudizhuState, moves: str) -> DoudizhuState:
    for move in moves.split():
        number = parse_move(move)
        assert number in state.legal_actions(), (move, str(state))
        state = state.child(number)
    return state


@pytest.mark.parametrize(
    ("hands", "moves", "spring", "returns"),
    [
        ("3 44 55", "3", False, [2, -1, -1]),
        ("3 44 55", "3", True, [4, -2, -2]),  # the peasants never played
        ("36 4 55", "3 4", False, [-2, 1, 1]),
        ("36 4 55", "3 4", True, [-4, 2, 2]),  # the landlord played once
        ("367 4 55", "3 pass pass 6 pass pass 7", True, [4, -2, -2]),
        ("367 45 55", "3 4 5 6 pass pass 7", True, [2, -1, -1]),
        ("3333 4 5", "3333", False, [4, -2, -2]),
        ("3333BR6 4 5", "3333 pass pass BR pass pass 6", False, [8, -4, -4]),
        ("3333BR6 4 5", "3333 pass pass BR pass pass 6", True, [16, -8, -8]),
        ("36 7777 55", "3 7777", False, [-4, 2, 2]),
        ("367 4 55", "3 4", True, [-4, 2, 2]),
        ("3367 4 5566", "3 pass 5 6 pass pass 3 pass 5 7", False, [2, -1, -1]),
    ],
)
def test_scores(hands: str, moves: str, spring: bool, returns: list[float]) -> None:
    state = after(ending(hands, spring=spring), moves)
    assert state.is_terminal()
    assert state.returns() == returns


def test_a_round_ends_after_two_passes() -> None:
    state = after(ending("378 99 456"), "3 pass 4")
    assert state.current_player() == 0
    assert state.at.to_beat == head_of(np.uint64(parse_cards("4")))
    state = after(state, "pass pass")
    assert state.current_player() == 2
    assert state.at.to_beat == LEAD
    assert 0 not in state.legal_actions()
    assert {move_name(move) for move in state.legal_actions()} == {"5", "6"}


def test_bidding() -> None:
    """Once each, higher or pass; three ends it; the bid multiplies the score; nobody bids: no play."""
    game, rng = Doudizhu(bidding=True), random.Random(1)
    state: Any = game.new_initial_state()
    while state.is_chance_node():
        state = state.child(chosen(state, rng))
    assert state.current_player() == 0
    assert state.legal_actions() == [0, 1, 2, 3]
    assert state.child(1).legal_actions() == [0, 2, 3]
    assert state.child(2).child(0).legal_actions() == [0, 3]
    assert state.child(3).at.landlord == 0
    assert state.child(0).child(0).child(0).returns() == [0, 0, 0]
    assert state.child(1).child(2).child(0).at.landlord == 1
    assert "shown" not in state.information_state_string(0)
    begun = state.child(1).child(2).child(0)
    assert begun.is_chance_node()
    while begun.is_chance_node():
        begun = begun.child(chosen(begun, rng))
    assert begun.current_player() == 1
    assert [int(num_cards(np.uint64(hand))) for hand in begun.at.hands] == [17, 20, 17]
    while not begun.is_terminal():
        begun = begun.child(chosen(begun, rng))
    assert sorted(map(abs, begun.returns())) == [2.0 * 2**begun.at.bombs] * 2 + [4.0 * 2**begun.at.bombs]


def test_a_deal_that_is_given() -> None:
    hands = [pack(DECK[at : at + 17]) for at in (0, 17, 34)]
    shown = pack(DECK[51:])
    state = fp.load("doudizhu").after_deal(hands, shown, landlord=2)
    assert state.current_player() == 2
    assert state.observation(2).cards_left == (17, 17, 20)
    with pytest.raises(FogplayError, match="three hands of 17 cards and 3 shown cards, not 20, 17, 17, 3"):
        fp.load("doudizhu").after_deal([hands[0] + shown, hands[1], hands[2]], shown)
    with pytest.raises(FogplayError, match="every card once"):
        fp.load("doudizhu").after_deal([hands[0], hands[0], hands[2]], shown)
    with pytest.raises(FogplayError, match="bidding must be True or False, not 3"):
        fp.load("doudizhu(bidding=3)")


def test_why_a_move_is_illegal() -> None:
    hand = parse_cards("3345678BR")
    pair = int(head_of(np.uint64(parse_cards("44"))))
    assert why_illegal(hand, LEAD, parse_cards("33")) is None
    assert why_illegal(hand, pair, 0) is None
    assert why_illegal(hand, LEAD, 0) == "you lead, and must play"
    assert why_illegal(hand, LEAD, parse_cards("99")) == "you do not hold 99"
    assert why_illegal(hand, LEAD, parse_cards("34")) == "34 is not a move"
    assert why_illegal(hand, pair, parse_cards("33")) == "33 (pair of 3) does not beat a pair of 4"
    assert why_illegal(hand, pair, parse_cards("BR")) is None
    assert move_number(parse_cards("34")) is None


# ---- What a player sees


def test_views_never_leak() -> None:
    """Whatever the others hold, a view is the same: infoset, observation, legal actions and names."""
    rng, numbers = random.Random(3), np.random.default_rng(3)
    for spec in ("doudizhu", "doudizhu(bidding=True,spring=True)"):
        game = fp.load(spec)
        for _ in range(6):
            for state in playout(game, rng)[54:]:
                player = state.current_player()
                if player < 0:
                    continue
                world = state.determinise(player, numbers)
                assert world.information_state_string(player) == state.information_state_string(player)
                assert world.observation(player) == state.observation(player)
                assert world.legal_actions() == state.legal_actions()
                assert sum(world.at.hands) + world.at.shown == sum(state.at.hands) + state.at.shown or game.bidding
                sizes = [[int(num_cards(np.uint64(hand))) for hand in each.at.hands] for each in (state, world)]
                assert sizes[0] == sizes[1]


@pytest.mark.parametrize("seat", range(3))
def test_a_view_is_the_same_in_every_world(seat: int) -> None:
    """A hand is played again with other cards for the others: all that a seat is given at the table stays the same."""
    game, rng, numbers = fp.load("doudizhu"), random.Random(seat), np.random.default_rng(seat)
    table, worlds = Table(game, Seeded(seat)), 0
    while not table.is_over:
        (acting,) = table.to_act
        view = table.view(acting)
        if acting == seat:
            again = _with_cards_of(view.world(numbers), table, seat)
            worlds += again.moves[:51] != table.moves[:51]
            assert again.seen(seat) == table.seen(seat)
            other = again.view(seat)
            assert (other.infoset, other.observation, other.legal, other.names, other.memory, other.luck) == (
                view.infoset, view.observation, view.legal, view.names, view.memory, view.luck,
            )  # fmt: skip
        table.take(acting, rng.choice(view.legal))
    assert worlds > 3


def _with_cards_of(world: DoudizhuState, table: Table, seat: int) -> Table:
    """The same moves at a table where the others were dealt the cards that they have in ``world``."""
    deals = list(table.moves[:54])
    for other in range(3):
        if other != seat:
            dealt = world.at.hands[other] + world.at.played[other] - world.at.shown * (other == 0)
            deals[17 * other : 17 * other + 17] = [rank for rank, n in enumerate(counts_of(dealt)) for _ in range(n)]
    events = [(-1, rank) for rank in deals] + [event[:2] for event in table.events[54:]]
    return Table(world.game, Seeded(seat), events=events)


def test_a_table_shows_a_seat_its_own_cards_only() -> None:
    table = Table(fp.load("doudizhu"), Seeded(4))
    for seat in range(3):
        seen = table.seen(seat)
        assert [event.action is not None for event in seen[:51]] == [place // 17 == seat for place in range(51)]
        assert all(event.action is not None for event in seen[51:])
    view = table.view(0)
    assert view.observation.cards_left == (20, 17, 17)
    assert view.observation.unseen == int(FULL_DECK) - view.observation.hand


def test_a_world_gives_the_shown_cards_to_the_landlord() -> None:
    rng, numbers = random.Random(5), np.random.default_rng(5)
    for _ in range(10):
        for state in playout(fp.load("doudizhu"), rng)[54:-1]:
            player = state.current_player()
            world = state.determinise(player, numbers)
            if player != 0:
                still_held = less(state.at.shown, state.at.played[0])
                assert less(still_held, world.at.hands[0]) == 0
            for seat in range(3):  # what a seat has played must have been dealt to it
                dealt = world.at.hands[seat] + world.at.played[seat]
                assert int(num_cards(np.uint64(dealt))) == (20 if seat == 0 else 17)


@pytest.mark.parametrize("viewer", ["landlord", "peasant"])
def test_worlds_are_uniform_over_consistent_deals(viewer: str) -> None:
    """Beside an enumeration: every deal of 54 different cards that fits is equally likely."""
    rng = np.random.default_rng(11)
    pool = pack([0, 0, 1, 1, 2, 3, 3, 3, 14])  # the unseen cards of the two others that matter
    first_played, second_played = pack([0, 3]), pack([1])
    fixed = [rank for rank in DECK if rank in (5, 6, 7, 8, 9, 10)][:25]  # others' cards that are known: all played
    landlord = (True, False) if viewer == "peasant" else (False, False)
    shown = pack([12, 12, 3]) if viewer == "peasant" else 0
    own = int(FULL_DECK) - pool - pack(fixed) - shown
    played = (first_played + pack(fixed[:12]), second_played + pack(fixed[12:]))
    counts: Counter[int] = Counter(draw_hands(own, shown, played, landlord, rng)[0] for _ in range(20_000))
    expected = _enumerated(pool, shown, first_played, second_played, 5, landlord[0])
    total = sum(expected.values())
    assert set(counts) == set(expected)
    means = {hand: 20_000 * ways / total for hand, ways in expected.items()}
    error = sum((counts[hand] - mean) ** 2 / mean for hand, mean in means.items())
    freedom = len(expected) - 1
    assert error < freedom + 4 * math.sqrt(2 * freedom)


def _enumerated(pool: int, shown: int, first: int, second: int, size: int, landlord: bool) -> Counter[int]:
    """What the first of two players may hold now, and in how many deals of different cards."""
    cards = [rank for rank, count in enumerate(counts_of(pool)) for _ in range(count)]
    ways: Counter[int] = Counter()
    for chosen_ones in itertools.combinations(range(len(cards)), size):
        dealt = pack([cards[place] for place in chosen_ones])
        held = dealt + (shown if landlord else 0)
        if not less(first, held) and not less(second, pool - dealt):
            ways[held - first] += 1
    return ways


def test_impossible_histories_are_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(FogplayError, match="these cards cannot be"):
        draw_hands(pack(DECK[:17]), pack(DECK[51:]), (pack(DECK[:4]), 0), (True, False), rng)


def test_the_name_of_the_game_says_its_options() -> None:
    assert str(fp.load("doudizhu(spring=True)")) == "doudizhu(bidding=False,spring=True)"
    assert show(pack([13, 14])) == "BR"
