"""The game behind the lines, against the rules and against the original dealer's own code inside OpenSpiel."""

from __future__ import annotations

import dataclasses
import random
import re
from typing import Any

import pyspiel
import pytest

from fogplay import load
from fogplay.cards.deck import RANKS, SUITS
from fogplay.errors import FogplayError
from fogplay.notation.acpc import MatchState, parse_hand, parse_state
from fogplay.notation.gamedef import Definition, our_definitions, print_definition
from fogplay.protocols.acpc import game as module
from fogplay.protocols.acpc.deals import Deals
from fogplay.protocols.acpc.game import AcpcGame

OURS = our_definitions()


def _changed(name: str, **changes: Any) -> Definition:
    return dataclasses.replace(OURS[name], **changes)


TIMES_TEN = {"blinds": (10, 10), "raises": (20, 40)}
VARIANTS = OURS | {
    "kuhn.limit.3p with stacks": _changed("kuhn.limit.3p", stacks=(2, 2, 2)),
    "kuhn.limit.3p from seat 2": _changed("kuhn.limit.3p", first=(3,)),
    "leduc.limit.2p times ten": _changed("leduc.limit.2p", **TIMES_TEN),
    "leduc.limit.2p from seat 1, times ten": _changed("leduc.limit.2p", first=(2, 2), **TIMES_TEN),
    "holdem.limit.2p in fifths": _changed("holdem.limit.2p", blinds=(2, 1), raises=(2, 2, 4, 4)),
    "holdem.limit.2p with the button first": _changed("holdem.limit.2p", blinds=(5, 10), first=(1, 2, 2, 2)),
    "holdem.limit.3p with the button first": _changed("holdem.limit.3p", blinds=(0, 5, 10), first=(1, 2, 2, 2)),
    "holdem.limit.3p with the button second": _changed("holdem.limit.3p", blinds=(10, 0, 5), first=(2, 3, 3, 3)),
}


@pytest.mark.parametrize("name", list(VARIANTS))
def test_the_original_plays_by_the_same_rules(name: str) -> None:
    """OpenSpiel's universal_poker is the competition's C code: it reads our files, and our rules pay what it pays."""
    definition = VARIANTS[name]
    game = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(print_definition(definition))
    table, rng = AcpcGame(definition), random.Random(1)
    for _ in range(150):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        (line,) = re.findall(r"ACPC State: (STATE:\S+)", str(state))
        names = "|".join(f"p{seat}" for seat in range(table.players))
        values = "|".join(f"{value:.6f}" for value in state.returns())
        hand = parse_hand(f"{_highest(line, definition.ranks, definition.suits)}:{values}:{names}")
        situation = table.situation(hand.betting)
        assert situation.over
        table.check_cards(hand, situation)
        assert_seats(table, state, hand.betting)
        assert table.values(hand.holes, hand.boards, situation) == pytest.approx(state.returns(), abs=1e-6)


def assert_seats(table: AcpcGame, state: Any, betting: str) -> None:
    """Whoever acted in the original is to act by our rules."""
    here, acted = table.start, [player for player in (entry.player for entry in state.full_history()) if player >= 0]
    for player, letter in zip(acted, betting.replace("/", ""), strict=True):
        assert here.seat == player
        here = table.following(here, letter)


def _highest(line: str, ranks: int, suits: int) -> str:
    """OpenSpiel deals small decks from the lowest cards, the competition from the highest."""
    head, cards = line.rsplit(":", 1)
    up, over = len(RANKS) - ranks, len(SUITS) - suits
    moved = re.sub(
        r"(\w)(\w)", lambda card: RANKS[RANKS.index(card[1]) + up] + SUITS[SUITS.index(card[2]) + over], cards
    )
    return f"{head}:{moved}"


@pytest.mark.parametrize(
    "spec", ["holdem", "holdem(players=3)", "leduc", "leduc(players=3)", "kuhn", "kuhn(players=4)"]
)
def test_situations_are_those_of_the_rules(spec: str) -> None:
    """Whatever is played: the same player, the same actions, the same end, the same infosets."""
    game: Any = load(spec)
    from fogplay.notation.gamedef import definition_of

    table, rng = AcpcGame(definition_of(game), game), random.Random(2)
    deals = Deals(table, 1)
    for hand in range(100):
        deal = deals.deal(hand)
        state, betting = game.new_initial_state(), ""
        order = [card for cards in (*deal.holes, *deal.boards) for card in sorted(table.card[each] for each in cards)]
        while True:
            while state.is_chance_node():
                state = state.child(order[len(state.cards)])
            situation = table.situation(betting)
            assert situation.over == state.is_terminal()
            boards = deal.boards[: situation.rounds - 1]
            if state.is_terminal():
                break
            assert situation.seat == state.current_player()
            seen = tuple(hole if seat == situation.seat else () for seat, hole in enumerate(deal.holes))
            mine = table.dealt(seen, boards, situation)
            assert mine.information_state_string(situation.seat) == state.information_state_string(situation.seat)
            letter, action = rng.choice(list(situation.actions.items()))
            assert sorted(situation.actions.values()) == sorted(state.legal_actions())
            state = state.child(action)
            betting += letter + ("/" if state.is_chance_node() else "")
        assert table.values(deal.holes, boards, situation) == state.returns()


def test_kuhns_words_are_the_competitions() -> None:
    table = AcpcGame(OURS["kuhn.limit.2p"])
    assert list(table.start.actions) == ["c", "r"]
    assert list(table.situation("cr").actions) == ["f", "c"]
    assert table.situation("rf").in_hand == (True, False)
    assert not table.situation("rf").showdown
    assert table.situation("crc").showdown
    assert table.start.state.limit_actions() == {"c": 0, "r": 1}


@pytest.mark.parametrize(
    ("betting", "says"),
    [
        ("f/", "rounds of f/ are not divided"),
        ("rrrr", "'r' is not possible in rrrr after 'rrr': there is f, c"),
        ("cf", "'f' is not possible in cf after 'c': there is c, r"),
        ("ffc", "'f' is not possible in ffc after 'f': the hand is over"),
        ("cc", "rounds of cc are not divided where they end: it is cc/"),
        ("c/c", "rounds of c/c are not divided"),
        ("cc//cc", "rounds of cc//cc are not divided"),
        ("c" * 60_000, "longer than any hand"),
        ("/" * 60_000, "longer than any hand"),
    ],
)
def test_betting_that_is_not_possible(betting: str, says: str) -> None:
    table = AcpcGame(OURS["holdem.limit.2p"])
    for _ in range(2):  # and not either when the way there is known
        with pytest.raises(FogplayError, match=says):
            table.situation(betting)
        table.situation("cc/")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("MATCHSTATE:0:0:cc/:AsKs|", "none; after 'cc/' there must be 3"),
        ("MATCHSTATE:0:0::AsKs|/2c3c4c", "3; after '' there must be none"),
        ("MATCHSTATE:0:0::As|", "holds 2 cards"),
        ("MATCHSTATE:0:0::AsAs|", "twice"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2cAs4c", "twice"),
        ("MATCHSTATE:0:0::AsKs||", "hole cards for 3 players; this game is for 2"),
    ],
)
def test_cards_that_are_not_possible(line: str, says: str) -> None:
    table = AcpcGame(OURS["holdem.limit.2p"])
    state, _ = parse_state(line)
    with pytest.raises(FogplayError, match=says):
        table.check_cards(state, table.situation(state.betting))


def test_a_small_deck_has_its_cards_only() -> None:
    table = AcpcGame(OURS["leduc.limit.2p"])
    with pytest.raises(FogplayError, match="not in this game's deck"):
        table.check_cards(MatchState(0, 0, "", ((0,), ()), ()), table.start)


def test_hands_that_are_not_over_or_not_shown_have_no_value() -> None:
    table = AcpcGame(OURS["kuhn.limit.2p"])
    king, ace = table.deck[1:]
    with pytest.raises(FogplayError, match="not over"):
        table.values(((king,), (ace,)), (), table.start)
    with pytest.raises(FogplayError, match="not all its hands are shown"):
        table.values(((king,), ()), (), table.situation("cc"))
    assert table.values(((king,), ()), (), table.situation("rf")) == [1, -1]


def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 50)
    table, rng = AcpcGame(OURS["holdem.limit.3p"]), random.Random(3)
    for _ in range(200):
        here = table.start
        while not here.over:
            here = table.situation(table.following(here, rng.choice(list(here.actions))).betting)
        assert len(table._known) <= 52


def test_deals_are_those_of_seed_and_number() -> None:
    """Every card equally often at every place, never twice, the same again whatever was asked for before."""
    for name in ("leduc.limit.2p", "holdem.limit.2p"):
        table = AcpcGame(OURS[name])
        deals, again = Deals(table, 7), Deals(table, 7)
        count = dict.fromkeys(table.deck, 0)
        for hand in range(3000):
            deal = deals.deal(hand)
            cards = [card for each in (*deal.holes, *deal.boards) for card in each]
            assert len(set(cards)) == len(cards)
            count[cards[-1]] += 1
        expected = 3000 / len(table.deck)
        assert sum((seen - expected) ** 2 / expected for seen in count.values()) < 2.5 * len(table.deck)
        for hand in (2999, 17, 1024):
            assert again.deal(hand) == deals.deal(hand)
            assert again.luck(hand) == deals.luck(hand)
        assert Deals(table, 8).deal(0) != deals.deal(0)
