"""The dealer without sockets or clocks: its rules line by line, and what players may do to it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import FixedLimitTexasHoldem
from pokerkit.notation import ACPCProtocolParser

from fogplay.errors import FogplayError
from fogplay.notation.acpc import parse_hand, parse_score, parse_state
from fogplay.notation.gamedef import our_definitions
from fogplay.protocols.acpc.dealer import MOST_ASIDE, Dealer, Limits, Terms
from fogplay.protocols.acpc.notes import MOST_NOTES
from tests.protocols.helpers import compiled_lines, dealer_of, hands_in, play_locally

OURS = our_definitions()


def begun(game: str = "holdem.limit.2p", hands: int = 3, **terms: object) -> tuple[Dealer, list[str]]:
    log: list[str] = []
    dealer = dealer_of(game, hands, log=log.append, **terms)
    for player in range(dealer.game.players):
        dealer.greet(player, "VERSION:2.0.0")
    dealer.begin()
    return dealer, log


def ask(dealer: Dealer) -> str:
    """The line that has to be answered; what is to be sent is dropped."""
    for player in range(len(dealer.names)):
        dealer.take(player)
    return dealer.asked


def test_a_dialogue() -> None:
    """Reversed blinds, own cards only, seats that move, everything shown at a showdown."""
    dealer, log = begun(hands=2)
    assert dealer.waits_for == 1
    zero, one = dealer.take(0), dealer.take(1)
    deal = dealer._deal
    assert [parse_state(line)[0].holes for line in (*zero, *one)] == [(deal.holes[0], ()), ((), deal.holes[1])]
    assert dealer.receive(f"{one[0]}:r", 0.1)
    assert dealer.waits_for == 0
    assert dealer.receive(f"{dealer.take(0)[0]}:f", 0.1)
    assert dealer.waits_for == 0  # the next hand: the other one has the button
    over, new = dealer.take(0)
    assert over.startswith("MATCHSTATE:0:0:rf:")
    assert parse_state(over)[0].holes == (deal.holes[0], ())  # no showdown, nothing shown
    assert new.startswith("MATCHSTATE:1:1::|")
    dealer.take(1)
    for _ in range(8):
        assert dealer.receive(f"{ask(dealer)}:c", 0.1)
    assert dealer.over
    assert dealer.ended is None
    (last,) = dealer.take(1)
    assert all(parse_state(last)[0].holes)
    head, *times, first, second, score = log
    assert head == "# name/game/hands/seed test holdem.limit.2p 2 1"
    assert times == ["#--t_response 600000", "#--t_hand 600000", "#--t_per_hand 7000"]
    assert first.endswith(":-10|10:p0|p1")
    assert second.endswith(":p1|p0")
    assert parse_score(score).values == tuple(dealer.totals)
    won = parse_hand(second)
    assert dealer.totals == [-10 + won.values[1], 10 + won.values[0]]


@pytest.mark.parametrize("name", ["holdem.limit.2p", "leduc.limit.3p", "kuhn.limit.3p"])
def test_seats_rotate(name: str) -> None:
    agents = ["uniform"] * OURS[name].players
    log: list[str] = []
    dealer, log = begun(name, 7)
    while dealer.waits_for is not None:
        dealer.receive(f"{ask(dealer)}:c", 0.0)
    players = len(agents)
    for number, line in enumerate(hands_in(log)):
        expected = [f"p{(seat + number) % players}" for seat in range(players)]
        assert parse_hand(line).names == tuple(expected)


@pytest.mark.parametrize("turn", [0, 1, 5])
def test_the_same_match_as_the_compiled_one(turn: int) -> None:
    """Mixed strategies too: cards, luck and results hand for hand, and with the seats turned as well."""
    agents = ["sparring", "rules"]
    dealer, log = play_locally("holdem.limit.2p", agents, 1500, seed=3, turn=turn)
    assert hands_in(log) == compiled_lines(OURS["holdem.limit.2p"], agents, 1500, 3, turn)
    assert parse_score(log[-1]).values == tuple(dealer.totals)


def test_a_turned_match_is_a_duplicate() -> None:
    """The same cards, every player with those that the other one had: who play alike win nothing together."""
    (first, log), (second, turned) = (
        play_locally("holdem.limit.2p", ["always-call", "always-raise"], 200, seed=2, turn=turn) for turn in (0, 1)
    )
    for line, other in zip(hands_in(log), hands_in(turned), strict=True):
        mine, theirs = parse_hand(line), parse_hand(other)
        assert mine.holes == theirs.holes
        assert mine.names == theirs.names[::-1]
    assert first.totals[0] + second.totals[0] == 0


@pytest.mark.parametrize("agents", [("rules", "sparring"), ("probe", "uniform")])
def test_pokerkit_reads_the_log(agents: tuple[str, str]) -> None:
    _, log = play_locally("holdem.limit.2p", agents, 150)
    parser = ACPCProtocolParser(FixedLimitTexasHoldem((), True, 0, (5, 10), 10, 20), 10_000)
    read = 0
    for hand in parser("\n".join(log), parse_value=float, error_status=True):
        *_, end = hand
        assert end.payoffs == pytest.approx(hand.user_defined_fields["_results"], abs=1)
        read += 1
    assert read == 150


# ---- What players may do


@pytest.mark.parametrize("action", ["x", "", "R2000000000", "f", "c", "k", "B", "\0"])
def test_an_invalid_action_is_a_call(action: str) -> None:
    """There is nothing to call, so that folding is invalid as well; sizes mean nothing."""
    dealer, log = begun()
    dealer.receive(f"{ask(dealer)}:c", 0)
    line = ask(dealer)
    dealer.receive(f"{line}:{action}", 0)
    assert dealer._situation.betting == ("cr" if action[:1] in ("R", "B") else "cc/")
    remarks = [each for each in log if "taken as a call" in each]
    assert len(remarks) == (action in ("x", "", "f", "\0"))


def test_a_raise_too_many_is_a_call() -> None:
    dealer, log = begun()
    for _ in range(4):
        dealer.receive(f"{ask(dealer)}:r", 0)
    assert dealer._situation.betting == "rrrc/"
    assert log[-1] == "# hand 0: p0 answered 'r', taken as a call"


def test_lines_that_answer_nothing_are_left_aside() -> None:
    dealer, log = begun()
    line = ask(dealer)
    for other in (
        "# a comment", "; another", "", "hello", line.replace("MATCHSTATE:1", "MATCHSTATE:0") + ":f",
        line.replace(":0::", ":7::") + ":f", line.replace("::", ":c:") + ":f", "MATCHSTATE:1:0::|AsAs:f",
    ):  # fmt: skip
        assert not dealer.receive(other, 0.0)
        assert dealer.waits_for == 1
    assert len([each for each in log if each.endswith("which answers nothing")]) == 5
    assert dealer.receive(f"{line}:c", 0.0)


def test_the_same_state_in_other_words_is_answered() -> None:
    dealer, _ = begun()
    line = ask(dealer).lower().replace("matchstate", "MATCHSTATE")
    assert dealer.receive(f"{line}:r", 0.0)
    assert dealer._situation.betting == "r"


def test_who_talks_without_end_is_out() -> None:
    dealer, log = begun()
    ask(dealer)
    for _ in range(MOST_ASIDE + 1):
        assert dealer.waits_for == 1
        dealer.receive("noise", 0.0)
    assert dealer.waits_for is None
    assert dealer.ended == "hand 0: p1 is out: it sent 1,000 lines that answer nothing"
    assert len(log) < MOST_NOTES + 10
    assert log[-1] == f"# the match ended early: {dealer.ended}"


@pytest.mark.parametrize(
    ("limits", "seconds", "why"),
    [
        (Limits(1, 600, 7), [0.9, 0.9, 1.1], "it did not answer in 1 seconds"),
        (Limits(600, 2, 7), [0.5, 0.7, 0.7, 0.9], "it took over 2 seconds in this hand"),
        (Limits(600, 600, 1), [1.0, 1.4, 1.7], "it took over 1 seconds per hand on average"),
    ],
)
def test_time_is_limited(limits: Limits, seconds: list[float], why: str) -> None:
    """By answer, by hand, by the match's hands together (here 3); only one's own time counts."""
    dealer, _ = begun(limits=limits)
    waiting = iter(seconds)
    while dealer.waits_for is not None:
        line = ask(dealer)
        dealer.receive(f"{line}:c", next(waiting, 100.0) if dealer.waits_for == 1 else 0.1)
    assert dealer.ended is not None
    assert why in dealer.ended
    assert dealer.gone.keys() == {1}
    assert next(waiting, None) is None


def test_silence_is_told_by_the_limit_that_was_met() -> None:
    dealer, _ = begun(limits=Limits(5, 600, 7))
    ask(dealer)
    assert dealer.limit == 5
    dealer.late()
    assert dealer.ended == "hand 0: p1 is out: it did not answer in 5 seconds"


def test_forfeit_plays_on_without_who_failed() -> None:
    """Hands before are as they were; from then on the one who failed checks or folds, and nobody is told twice."""
    whole, log = begun(hands=6)
    dealer, other = begun(hands=6, forfeit=True)
    heard: list[str] = []
    while whole.waits_for is not None:
        whole.receive(f"{ask(whole)}:c", 0)
    while dealer.waits_for is not None:
        for player in (0, 1):
            lines = dealer.take(player)
            if player == 0:
                heard += lines
        if dealer.hand == 2 and dealer.waits_for == 1:
            dealer.fail(1, "gone")
            continue
        dealer.receive(f"{dealer.asked}:{'r' if dealer.hand > 2 else 'c'}", 0)
    heard += dealer.take(0)
    assert dealer.over
    assert dealer.ended is None
    assert hands_in(log)[:2] == hands_in(other)[:2]
    assert [line.split(":")[2] for line in hands_in(other)[2:]] == ["f", "rf", "f", "rf"]
    assert len(set(heard)) == len(heard)
    assert "# hand 2: p1 is out: gone; it checks or folds from now on" in other
    assert parse_score(other[-1]).values == tuple(dealer.totals)


def test_forfeit_ends_when_nobody_is_left() -> None:
    dealer, log = begun(forfeit=True)
    dealer.fail(0, "gone")
    dealer.fail(1, "gone too")
    assert dealer.ended is not None
    assert log[-1].startswith("# the match ended early")


@pytest.mark.parametrize("line", ["", "VERSION:1.0.0", "VERSION:2", "MATCHSTATE:0:0::|", "x" * 100_000])
def test_a_greeting_that_is_none_ends_the_match(line: str) -> None:
    dealer = dealer_of("kuhn.limit.2p", 3)
    dealer.greet(0, line)
    dealer.begin()
    assert dealer.ended is not None
    assert dealer.ended.startswith("hand 0: p0 is out: ")
    assert dealer.waits_for is None


def test_any_version_two_is_welcome() -> None:
    dealer = dealer_of("kuhn.limit.2p", 3)
    dealer.greet(0, "VERSION:2.0.0 ")
    dealer.greet(1, "VERSION:2.1.7")
    assert dealer.ended is None


def test_terms_that_make_no_match() -> None:
    for wrong, says in (
        ({"hands": 0}, "hands must be"),
        ({"hands": 10**10}, "hands must be"),
        ({"seed": -1}, "seed must be"),
        ({"limits": Limits(answer=0)}, "over 0 seconds"),
        ({"limits": Limits(hand=float("nan"))}, "over 0 seconds"),
    ):
        with pytest.raises(FogplayError, match=says):
            Terms(**{"name": "x", "game": "x", "hands": 1, "seed": 0} | wrong)  # type: ignore[arg-type]
    with pytest.raises(FogplayError, match="is for 2 players, not for 1"):
        dealer_of("kuhn.limit.2p", 1, ["a"])
    with pytest.raises(FogplayError, match="names of their own"):
        dealer_of("kuhn.limit.2p", 1, ["a", "a"])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["kuhn.limit.3p", "leduc.limit.2p", "holdem.limit.2p"]))
def test_nothing_that_players_say_stops_a_match_or_breaks_its_rules(seed: int, game: str) -> None:
    """Players who answer well, badly, late, with other lines, or leave: the log follows the rules."""
    rng, log = random.Random(seed), list[str]()
    dealer = dealer_of(game, 10, log=log.append, forfeit=True, seed=seed % 100)
    for player in range(dealer.game.players):
        dealer.greet(player, "VERSION:2.0.0")
    dealer.begin()
    for _ in range(2000):
        if dealer.waits_for is None:
            break
        line = ask(dealer)
        what = rng.random()
        if what < 0.7:
            dealer.receive(f"{line}:{rng.choice('fcr')}", 0.01)
        elif what < 0.97:
            junk = "".join(rng.choices("MATCHSE:0123fcr/|AKs\x00é", k=rng.randrange(40)))
            dealer.receive(rng.choice([junk, f"{line}:{junk}", line[: rng.randrange(len(line))]]), 0.01)
        else:
            rng.choice([dealer.late, lambda: dealer.fail(rng.randrange(dealer.game.players), "left")])()
    assert dealer.over or dealer.ended is not None
    assert abs(sum(dealer.totals)) < 1e-9
    for line in hands_in(log):
        hand = parse_hand(line)
        situation = dealer.game.situation(hand.betting)
        assert dealer.game.values(hand.holes, hand.boards, situation) == pytest.approx(hand.values, abs=1e-5)
