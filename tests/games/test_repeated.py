"""Repeated games by hand."""

from __future__ import annotations

import pytest

from fogplay.errors import FogplayError
from fogplay.games import TERMINAL, Game, State, load
from fogplay.games.kuhn import Kuhn
from fogplay.games.repeated import Repeated

from .specs import every_state, infosets, play


def test_payoffs_add_up() -> None:
    end = play(load("repeated(rps,hands=3)"), "rock", "scissors", "rock", "paper", "paper", "paper")
    assert end.is_terminal()
    assert end.returns() == [150.0, 150.0]


def test_a_hand_is_laid_open_when_it_is_over() -> None:
    game = load("repeated(kuhn,hands=2)")
    during = play(game, "deal K", "deal Q", "pass")
    assert during.information_state_string(1) == "Q:p"
    folded = play(game, "deal K", "deal Q", "bet", "pass", "deal J", "deal K")
    assert folded.information_state_string(0) == "deal K; deal Q; bet; pass / J:"
    other = play(game, "deal K", "deal J", "bet", "pass", "deal J", "deal K")
    assert other.information_state_string(0) == "deal K; deal J; bet; pass / J:"


def test_choices_of_the_hand_in_progress_stay_hidden() -> None:
    game = load("repeated(rps,hands=2)")
    seen = {play(game, "rock", "paper", choice).information_state_string(1) for choice in ("rock", "paper")}
    assert seen == {"rock; paper / player 1"}


def test_one_hand_is_the_game_itself() -> None:
    once, kuhn = load("repeated(kuhn,hands=1)"), load("kuhn")
    assert infosets(once) == infosets(kuhn)
    ends = [[state.returns() for state in every_state(game) if state.is_terminal()] for game in (once, kuhn)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(("spec", "hands"), [("rps", 3), ("kuhn", 2), ("two-by-two", 4)])
def test_sizes(spec: str, hands: int) -> None:
    """A hand follows every end of the one before, so nodes and infosets grow by the number of ends."""
    game, repeated = load(spec), Repeated(spec, hands)
    nodes = sum(1 for _ in every_state(game))
    ends = sum(state.is_terminal() for state in every_state(game))
    starts = [ends**hand for hand in range(hands)]
    assert sum(1 for _ in every_state(repeated)) == sum(starts) * (nodes - ends) + ends**hands
    assert len(infosets(repeated)) == sum(starts) * len(infosets(game))


def test_takes_a_game_or_its_spec() -> None:
    assert Repeated(Kuhn(players=3), hands=2) == load("repeated(kuhn(players=3),hands=2)")
    assert str(load("repeated(rps,2)")) == "repeated(game=matrix(payoffs=rps),hands=2)"
    assert load("repeated(kuhn(players=3),2)").num_players() == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("repeated(kuhn,hands=0)", "repeated: hands must be a whole number from 1 to 1000, not 0"),
        ("repeated(kuhn,hands=two)", "repeated: hands must be a whole number from 1 to 1000, not 'two'"),
        ("repeated(3)", "repeated: game must be a game or the spec of one, such as kuhn, not 3"),
        ("repeated(khun)", "no game is called 'khun'; did you mean 'kuhn'?"),
        ("repeated(kuhn(players=1))", "kuhn: players must be a whole number from 2 to 10, not 1"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError) as caught:
        load(spec)
    assert message in str(caught.value)


class TwoNamesAlike(Game):
    """One player, two actions of the same name."""

    name = "alike"

    def num_players(self) -> int:
        return 1

    def new_initial_state(self) -> State:
        return AlikeState(-1)


class AlikeState(State):
    def __init__(self, chosen: int) -> None:
        self.chosen = chosen

    def current_player(self) -> int:
        return 0 if self.chosen < 0 else TERMINAL

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def child(self, action: int) -> AlikeState:
        return AlikeState(action)

    def information_state_string(self, player: int) -> str:
        return "choose"

    def action_to_string(self, player: int, action: int) -> str:
        return "this one"

    def returns(self) -> list[float]:
        return [float(self.chosen)]


def test_plays_that_read_the_same_are_refused() -> None:
    """Two actions with one name would merge infosets without a word."""
    with pytest.raises(FogplayError, match="two different plays of alike have the same record 'this one'"):
        list(every_state(Repeated(TwoNamesAlike(), hands=2)))
