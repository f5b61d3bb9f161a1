"""The game behind the lines: which betting is possible, whose turn it is, and what a hand is worth.

The rules in ``games`` decide all of this. Betting does not depend on the cards, so each situation is computed once, by
a state with placeholder cards, and cached by its betting string.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import Game
from fogplay.games.limit import most_actions
from fogplay.notation.acpc import Cards, LoggedHand, MatchState, quoted
from fogplay.notation.gamedef import Definition, Fit, fit, game_of
from fogplay.play.view import Memory, View
from fogplay.play.worlds import draw_world

MOST_KNOWN = 1 << 16  # situations in the cache; the largest two-player definition has 24,000
OVER = -1
HIDDEN = -1  # a card that is not shown


class Situation:
    """A point of the betting, independent of the cards; seats and chips are the definition's."""

    __slots__ = (
        "actions", "betting", "fit", "in_hand", "legal", "letters", "over", "rounds", "seat", "showdown", "state",
        "unshown",
    )  # fmt: skip

    def __init__(self, state: Any, betting: str, in_hand: tuple[bool, ...], fit: Fit) -> None:
        self.state = state  # by our rules, with placeholder cards
        self.betting = betting  # as lines write it
        self.in_hand = in_hand  # whether each seat has not folded
        self.fit = fit
        self.over: bool = state.is_terminal()
        self.seat: int = OVER if self.over else fit.seat(state.current_player())  # the seat to act
        self.actions = {} if self.over else state.limit_actions()  # our rules' numbers by letter, in their order
        self.legal = tuple(self.actions.values())
        self.letters = {action: letter for letter, action in self.actions.items()}
        self.rounds = betting.count("/") + 1  # that have begun
        self.showdown = self.over and sum(in_hand) > 1
        self.unshown = fit.chips(state.returns()) if self.over and not self.showdown else []  # what each seat wins

    def after(self, letter: str) -> Situation:
        """The situation after the player to act takes this action."""
        state = self.state.child(self.actions[letter])
        rounds = "/" if state.is_chance_node() else ""
        in_hand = self.in_hand
        if letter == "f":
            in_hand = (*in_hand[: self.seat], False, *in_hand[self.seat + 1 :])
        return Situation(made_up(state), self.betting + letter + rounds, in_hand, self.fit)


def made_up(state: Any) -> Any:
    """The state after chance has made all moves due, lowest cards first."""
    while state.is_chance_node():
        state = state.child(len(state.cards))
    return state


class AcpcGame:
    """A game in the competition's terms and in ours.

    Everything that lines hold (seats, cards by seat, chips) is by the definition; ``fit`` leads to the seats and chips
    of our rules, which only views and states use.
    """

    def __init__(self, definition: Definition, game: Game | None = None) -> None:
        """``game`` defaults to the one that the definition describes; any other must fit the definition."""
        self.definition = definition
        self.game: Any = game_of(definition) if game is None else game
        found = fit(definition, self.game)
        if found is None:
            raise FogplayError(f"{self.game} is not the game of this definition")
        self.fit = found
        self.players = definition.players
        self.deck = definition.deck()  # the number of each card among all 52
        self.card = {number: card for card, number in enumerate(self.deck)}
        self._numbers = frozenset(self.deck)
        self._starts = [self.fit.our_seat(seat) * definition.hole for seat in range(self.players)]  # of hole cards
        self._hidden = (HIDDEN,) * (definition.players * definition.hole)
        self._sorted = functools.lru_cache(maxsize=1 << 13)(self._as_rules_sort)
        self.most_actions = most_actions(definition.players, definition.max_raises)
        everybody = (True,) * self.players
        self.start = Situation(made_up(self.game.new_initial_state()), "", everybody, self.fit)
        self._known = {"": self.start}
        self.waiting: dict[str, tuple[str, ...]] = {}  # the seats not to act, as lines write them, by cached betting

    def situation(self, betting: str) -> Situation:
        """The situation after some betting; refuses betting that the rules do not allow."""
        known = self._known.get(betting)
        return known if known is not None and known.betting == betting else self._find(betting)

    def _find(self, betting: str) -> Situation:
        letters = betting.replace("/", "") if len(betting) <= 2 * self.most_actions else "x" * (self.most_actions + 1)
        if len(letters) > self.most_actions:
            raise FogplayError(f"{quoted(betting)} is longer than any hand of this game")
        here = self.start
        for letter in letters:
            if letter not in here.actions:
                done = "the hand is over" if here.over else f"there is {', '.join(here.actions)}"
                raise FogplayError(f"{letter!r} is not possible in {betting} after {here.betting!r}: {done}")
            here = self.following(here, letter)
        if here.betting != betting:
            raise FogplayError(f"the rounds of {betting} are not divided where they end: it is {here.betting}")
        return here

    def following(self, situation: Situation, letter: str) -> Situation:
        """The situation after a possible action."""
        return self._known.get(situation.betting + letter) or self._keep(situation.after(letter))

    def _keep(self, found: Situation) -> Situation:
        if len(self._known) >= MOST_KNOWN:
            self._known = {"": self.start}
            self.waiting.clear()
        self._known[found.betting] = found
        if not found.over:
            self.waiting[found.betting] = tuple(str(seat) for seat in range(self.players) if seat != found.seat)
        if found.betting.endswith("/"):
            self._known[found.betting[:-1]] = found  # so that a walk letter by letter finds it
        return found

    def check_cards(self, seen: MatchState | LoggedHand, situation: Situation) -> None:
        """Refuse cards that this game cannot have dealt by this point of the betting."""
        game, expected = self.definition, self.definition.board[1 : situation.rounds]
        if len(seen.holes) != self.players:
            raise FogplayError(f"there are hole cards for {len(seen.holes)} players; this game is for {self.players}")
        for hole in seen.holes:
            if hole and len(hole) != game.hole:
                raise FogplayError(f"a player of this game holds {game.hole} cards")
        if tuple(map(len, seen.boards)) != expected:
            counts = "/".join(str(len(cards)) for cards in seen.boards) or "none"
            due = "/".join(map(str, expected)) or "none"
            raise FogplayError(f"cards turned up by round: {counts}; after {situation.betting!r} there must be {due}")
        cards = [card for each in (*seen.holes, *seen.boards) for card in each]
        different = set(cards)
        if len(different) != len(cards):
            raise FogplayError("a card appears twice")
        if not different <= self._numbers:
            raise FogplayError("a card is not in this game's deck")

    def dealt(self, holes: Sequence[Cards], boards: Sequence[Cards], situation: Situation) -> Any:
        """The situation's state by our rules with the given cards; cards that are not shown are HIDDEN."""
        sorted_, cards = self._sorted, self._hidden
        for at, hole in zip(self._starts, holes, strict=True):
            if hole:
                cards = cards[:at] + sorted_(hole) + cards[at + len(hole) :]
        for board in boards:
            cards += sorted_(board)
        return situation.state.with_cards(cards)

    def chance_moves(self, holes: Sequence[Cards], boards: Sequence[Cards]) -> list[int]:
        """All of chance's moves in a hand with these cards, in the order in which our rules make them."""
        held = [holes[self.fit.seat(ours)] for ours in range(self.players)]
        return [card for cards in (*held, *boards) for card in self._sorted(cards)]

    def _as_rules_sort(self, cards: Cards) -> Cards:
        """A set of cards as our rules number and order them."""
        return tuple(sorted(self.card[each] for each in cards))

    def view(self, seen: MatchState, situation: Situation, luck: float) -> View:
        """The view of the seat to act, made from a line; its seat is that of our rules."""
        seat = self.fit.our_seat(seen.seat)

        def state() -> Any:
            return self.dealt(seen.holes, seen.boards, situation)

        def observation() -> Any:
            here = state()
            return here.observation(seat) if hasattr(here, "observation") else None

        return View(
            seat=seat,
            legal=situation.legal,
            luck=luck,
            infoset=lambda: str(state().information_state_string(seat)),
            names=lambda: tuple(str(situation.state.action_to_string(seat, action)) for action in situation.legal),
            observation=observation,
            memory=lambda: self._memory(seen),
            world=lambda rng, doubt: draw_world(self.game, state(), seat, (), rng, doubt),
            game=self.game,
        )

    def _memory(self, seen: MatchState) -> Memory:
        """The seat's earlier decisions in the hand of a line."""
        here, past, seat = self.start, list[tuple[str, int]](), self.fit.our_seat(seen.seat)
        for letter in seen.betting.replace("/", ""):
            if here.seat == seen.seat:
                before = self.dealt(seen.holes, seen.boards[: here.rounds - 1], here)
                past.append((str(before.information_state_string(seat)), here.actions[letter]))
            here = self.following(here, letter)
        return tuple(past)

    def values(self, holes: Sequence[Cards], boards: Sequence[Cards], situation: Situation) -> list[float]:
        """[seats] the definition's chips won in a completed hand, by our rules."""
        if not situation.over:
            raise FogplayError(f"the hand is not over after {situation.betting!r}")
        if not situation.showdown:
            return situation.unshown
        if any(stays and not hole for stays, hole in zip(situation.in_hand, holes, strict=True)):
            raise FogplayError("there is a showdown, and not all its hands are shown")
        return self.fit.chips(self.dealt(holes, boards, situation).returns())
