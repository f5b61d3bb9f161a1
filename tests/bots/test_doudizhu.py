"""The bots of Doudizhu: legal, fair, able to say why, and each stronger than the one before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fogplay.agents.resolve import resolve
from fogplay.bots.doudizhu import BOTS, STRONG, DeltaDou, DeltaSettings, Settings, Strong, arena, bot
from fogplay.bots.doudizhu.agents import table_from
from fogplay.bots.doudizhu.evaluators import by_rules
from fogplay.bots.doudizhu.partition import KICKER, Memo, best, groups, split
from fogplay.bots.doudizhu.plain import rhcp_memo
from fogplay.bots.doudizhu.player import without_inference
from fogplay.bots.doudizhu.playouts import likelihood
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu, DoudizhuState, Position, move_name
from fogplay.games.doudizhu_cards import FULL_DECK, pack, unpack
from fogplay.games.doudizhu_heads import FIRST_HEAD, FOUR_SOLOS, head_of
from fogplay.games.doudizhu_moves import legal_moves
from fogplay.notation.doudizhu import parse_cards
from fogplay.play import Table
from fogplay.play.hands import play_hand
from fogplay.play.luck import Seeded
from fogplay.play.view import View

QUICK = STRONG._replace(playouts=60, worlds=20)


def small(name: str) -> Any:
    if name.startswith("deltadou"):
        settings = DeltaSettings(playouts=0 if name == "deltadou-policy" else 24)
        return DeltaDou(without_inference(settings) if name == "deltadou-plain" else settings, by_rules())
    return Strong(QUICK) if name.startswith("strong") else bot(name)


def hand_of(rng: np.random.Generator, cards: int) -> int:
    return pack(int(rank) for rank in rng.permutation(unpack(int(FULL_DECK)))[:cards])


def view_of(state: DoudizhuState, luck: float = 0.25) -> View:
    seat = state.current_player()
    return View(
        seat=seat,
        legal=tuple(state.legal_actions()),
        luck=luck,
        infoset=lambda: state.information_state_string(seat),
        names=lambda: tuple(map(move_name, state.legal_actions())),
        observation=lambda: state.observation(seat),
    )


def ending(landlord: str, after: str, before: str, seat: int = 0) -> DoudizhuState:
    """An open ending in which ``seat`` leads: all other cards were played by the landlord, one can say."""
    hands = tuple(parse_cards(text) for text in (landlord, after, before))
    gone = list(unpack(int(FULL_DECK) - sum(hands)))
    cuts = np.cumsum([20 - len(unpack(hands[0])), 17 - len(unpack(hands[1]))])
    played = tuple(map(pack, (gone[: cuts[0]], gone[cuts[0] : cuts[1]], gone[cuts[1] :])))
    shown = pack(gone[:3])
    return DoudizhuState(Doudizhu(), Position(hands, 54, shown, landlord=0, player=seat, played=played))


# ---- Partitions


def slow_best(hand: int, slots: int, memo: Memo) -> float:
    """The same as ``best``, by trying every group that the lowest card may belong to."""
    if hand == 0:
        return 0.0 if slots >= 0 else -np.inf
    lowest = unpack(hand)[0]
    found = -np.inf
    for head, cards in zip(*map(np.ndarray.tolist, legal_moves(hand)), strict=True):
        ranks = unpack(cards)
        plain = len({ranks.count(rank) for rank in ranks}) == 1
        if lowest not in ranks or not plain or (len(ranks) > 4 and len(set(ranks)) == 1):
            continue
        copies, length = ranks.count(lowest), len(set(ranks))
        if head >= FIRST_HEAD[FOUR_SOLOS] and copies != 4 and ranks != [13, 14]:
            continue
        gained = length if copies == 3 and length <= 5 else 0
        found = max(found, memo.worth[head] + slow_best(hand - cards, slots + gained, memo))
        if copies <= 2 and length == 1:
            found = max(found, memo.kicker[copies, lowest] + slow_best(hand - cards, slots - 1, memo))
        if copies == 4:
            worth = memo.worth[FIRST_HEAD[FOUR_SOLOS] + lowest]
            found = max(found, worth + slow_best(hand - cards, slots + 2, memo))
    return float(found)


@pytest.mark.parametrize("memo", [rhcp_memo(), bot("rules").bot.memo], ids=["rhcp", "rules"])
def test_the_best_partition_is_the_best_of_all(memo: Memo) -> None:
    rng = np.random.default_rng(4)
    for number in range(60):
        low = int(rng.integers(0, 8))
        some = [rank for rank in unpack(int(FULL_DECK)) if low <= rank < low + 6 or rank > 12]
        hand = pack(int(rank) for rank in rng.permutation(some)[: 3 + number % 8])
        assert best(np.uint64(hand), 0, memo)[0] == pytest.approx(slow_best(hand, 0, memo))


@pytest.mark.parametrize("memo", [rhcp_memo(), bot("rules").bot.memo], ids=["rhcp", "rules"])
def test_partitions_are_legal_moves_that_use_every_card_once(memo: Memo) -> None:
    rng, parts = np.random.default_rng(1), groups()
    for number in range(600):
        hand = hand_of(rng, 1 + number % 20)
        count = split(np.uint64(hand), memo, parts)
        assert sum(parts.cards[:count].tolist()) == hand
        assert [head_of(cards) for cards in parts.cards[:count]] == parts.heads[:count].tolist()


def test_a_memo_that_is_full_changes_nothing() -> None:
    rng, memo = np.random.default_rng(2), rhcp_memo()
    hands = [np.uint64(hand_of(rng, 20)) for _ in range(20)]
    fresh = [best(hand, 0, rhcp_memo()) for hand in hands]
    for _ in range(2000):
        best(np.uint64(hand_of(rng, 20)), 0, memo)
    assert [best(hand, 0, memo) for hand in hands] == fresh
    assert all(choice < KICKER + 3 for _, choice in fresh)


# ---- At the table


@pytest.mark.parametrize("name", list(BOTS))
def test_bots_play_legal_moves_to_the_end(name: str) -> None:
    agent, other = small(name), small("rules")
    for number in range(4):
        table = play_hand(Doudizhu(), Seeded(number), [agent, other, agent])
        assert table.is_over
        assert len(table.moves) > 54


@pytest.mark.parametrize("name", list(BOTS))
def test_bots_can_bid_and_any_seat_may_be_the_landlord(name: str) -> None:
    agent, game = small(name), Doudizhu(bidding=True)
    landlords = set()
    for number in range(6):
        table = play_hand(game, Seeded(f"bid {number}"), [agent] * 3)
        landlords.add(int(np.argmax(np.abs(table.scores))))
    assert len(landlords) > 1


@pytest.mark.parametrize("name", list(BOTS))
def test_what_a_bot_cannot_see_does_not_matter(name: str) -> None:
    rng, agent = np.random.default_rng(5), small(name)
    for number in range(3):
        table = Table(Doudizhu(), Seeded(f"fair {number}"))
        for _ in range(12):
            (seat,) = table.to_act
            table.take(seat, small("greedy").act(table.view(seat)))
        (seat,) = table.to_act
        first = table.view(seat).world(rng)
        acts = {agent.act(view_of(first.determinise(seat, rng))) for _ in range(5)}
        assert len(acts) == 1


def test_worlds_that_fit_the_moves_count_more() -> None:
    """The landlord led a three and the next peasant passed: with a two and a king it would have played."""
    agent = Strong(QUICK._replace(doubt=0.1, pass_doubt=0.1))
    seen = ending("4 5", "K 2", "7 8 9", seat=2).observation(2)._replace(moves=(1, 0), to_beat=1, passes=1)
    table = table_from(seen)
    usual, odd = (
        likelihood(table, agent.settings, agent.mind, np.array(list(map(parse_cards, hands)), np.uint64))
        for hands in (("4 2", "5 5", "7 8 9"), ("4 5", "K 2", "7 8 9"))
    )
    assert odd <= usual
    assert likelihood(table, QUICK, agent.mind, np.array([1, 16, 256], np.uint64)) == 0.0
    table_view = view_of(Table(Doudizhu(), Seeded(3)).view(0).world(np.random.default_rng(0)))
    assert agent.act(table_view) in table_view.legal


def test_bots_are_found_by_name() -> None:
    found = resolve(["strong", "rhcp", "strong"], Doudizhu())
    assert found[0] is found[2]
    assert isinstance(found[0], Strong)
    with pytest.raises(FogplayError, match="there is no bot 'clever'; there are random, greedy, rhcp, rules, strong"):
        bot("clever")


@pytest.mark.parametrize("name", list(BOTS))
def test_bots_say_why(name: str) -> None:
    agent = small(name)
    for number in range(3):
        table = Table(Doudizhu(), Seeded(f"why {number}"))
        for _ in range(8 * number):
            (seat,) = table.to_act
            table.take(seat, small("greedy").act(table.view(seat)))
        view = table.view(table.to_act[0])
        advice = agent.explain(view)
        assert advice.action == agent.act(view) == advice.candidates[0].action
        assert len({each.action for each in advice.candidates}) == len(advice.candidates)
        for each in advice.candidates:
            assert each.action in view.legal
            assert each.reason
            assert each.name == move_name(each.action)
            assert (each.win_rate is None) == (each.playouts == 0)


def test_reasons_are_about_the_move() -> None:
    advice = bot("rules").explain(view_of(ending("2 3", "A 4", "K 5")))
    assert advice.candidates[0].name == "2"
    assert advice.reason == "solo of 2; leaves 3; nobody can beat it"
    advice = bot("rhcp").explain(view_of(ending("33", "A 4", "K 5")))
    assert advice.reason == "plays the last cards and wins"


# ---- Strength


def compared(one: arena.Bot, other: arena.Bot, decks: int) -> tuple[float, float]:
    """The share of games won over both sides, and its standard error."""
    won, score = np.zeros((decks, 2), bool), np.zeros((decks, 2))
    arena.compare(3, 0, decks, one, other, np.zeros(2, np.uint64), np.zeros(3, np.uint64), won, score)
    assert ((score > 0) == won).all()
    return float(won.mean()), float(won.mean(axis=1).std() / decks**0.5)


@pytest.mark.parametrize("kind", [arena.GREEDY, arena.RHCP, arena.RULES], ids=["greedy", "rhcp", "rules"])
def test_every_bot_beats_the_one_before(kind: int) -> None:
    share, error = compared(arena.bot(kind), arena.bot(kind - 1), 1000)
    assert share > 0.5 + 3 * error


def test_the_arena_and_the_table_play_the_same_games() -> None:
    """Compiled games between rules of thumb and RHCP, dealt again at a table."""
    won, score = np.zeros((5, 2), bool), np.zeros((5, 2))
    work = np.zeros(2, np.uint64), np.zeros(3, np.uint64)
    arena.compare(3, 0, 5, arena.bot(arena.RULES), arena.bot(arena.RHCP), *work, won, score)
    agents = bot("rules"), bot("rhcp")
    for deck in range(5):
        arena.seed_game(3, deck, work[0])
        *hands, shown = map(int, arena.deal_cards(work[0]))
        for turn in range(2):
            state = Doudizhu().after_deal(hands, shown)
            while not state.is_terminal():
                agent = agents[turn] if state.current_player() == 0 else agents[1 - turn]
                state = state.child(agent.act(view_of(state)))
            assert state.returns()[0] / 2 * (1, -1)[turn] == score[deck, turn]


def strong_against_rhcp(decks: int, settings: Settings) -> float:
    strong, other, wins = Strong(settings), bot("rhcp"), 0
    for deck in range(decks):
        wins += play_hand(Doudizhu(), Seeded(f"strong {deck}"), [strong, other, other]).scores[0] > 0
        wins += play_hand(Doudizhu(), Seeded(f"strong {deck}"), [other, strong, strong]).scores[0] < 0
    return wins / (2 * decks)


def test_strong_beats_rhcp() -> None:
    assert strong_against_rhcp(20, QUICK) > 0.55


@pytest.mark.slow
def test_strong_beats_rhcp_by_far() -> None:
    assert strong_against_rhcp(300, STRONG) > 0.65


@pytest.mark.parametrize(
    ("hands", "seat", "move"),
    [
        (("55 3", "A", "7 8"), 0, "55"),  # nobody has a pair, but everybody beats the three
        (("KK", "3 Q", "5"), 1, "3"),  # one card for the partner
    ],
)
def test_strong_plays_endings_right(hands: tuple[str, str, str], seat: int, move: str) -> None:
    state = ending(*hands, seat=seat)
    advice = Strong(STRONG._replace(doubt=1.0, pass_doubt=1.0)).explain(view_of(state))
    assert advice.candidates[0].name == move


def test_the_same_luck_gives_the_same_thoughts() -> None:
    state = Doudizhu().new_initial_state()
    table = Table(Doudizhu(), Seeded(9))
    state = table.view(0).world(np.random.default_rng(1))
    first, again = (Strong(QUICK).explain(view_of(state)) for _ in range(2))
    assert first == again
    assert any(each.playouts for each in first.candidates)


def test_strong_takes_a_number_of_playouts() -> None:
    fast, twice, huge = (resolve([text], Doudizhu())[0].settings for text in ("strong:500", "strong:4e3", "strong:1e6"))
    assert fast == resolve(["strong-fast"], Doudizhu())[0].settings
    assert (twice.playouts, twice.worlds) == (4000, 1024)
    assert (huge.playouts, huge.worlds) == (1_000_000, 1024)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("strong:0", "playouts must be from 1 to 10,000,000, not 0; write strong:PLAYOUTS, such as strong:8000"),
        ("strong:many", "'many' is not a number; write strong:PLAYOUTS"),
        ("strong:inf", "'inf' is not a number; write strong:PLAYOUTS"),
        ("strong:", "'' is not a number; write strong:PLAYOUTS"),
        ("rhcp:8", "there is no kind of agent 'rhcp'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text: str, why: str) -> None:
    with pytest.raises(FogplayError, match=why):
        resolve([text], Doudizhu())


def test_earlier_moves_change_no_thoughts() -> None:
    """What was solved before must not decide which endings are solved within the limit."""
    view = view_of(ending("3 4 4 6 7 9 J Q", "4 5 8 T K A", "3 5 8 9 J 2"))
    hasty = STRONG._replace(solver_nodes=40, playouts=200)
    fresh, used = Strong(hasty), Strong(STRONG)
    used.explain(view)
    used.settings = hasty
    assert used.explain(view) == fresh.explain(view)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(FogplayError, match="strong: playouts must be from 1 to 10,000,000, not 0"):
        Strong(STRONG._replace(playouts=0))
    with pytest.raises(FogplayError, match=r"strong: doubt must be from 0\.001 to 1, not 2"):
        Strong(STRONG._replace(doubt=2.0))
