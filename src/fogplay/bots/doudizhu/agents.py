"""The bots of Doudizhu as agents: from a view to a move, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena, endgame, playouts
from fogplay.bots.doudizhu.arena import Bot
from fogplay.bots.doudizhu.partition import best, split
from fogplay.bots.doudizhu.playouts import Settings, Table
from fogplay.bots.doudizhu.position import Sight, are_enemies, is_top, partner_left
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import BID_NAMES, NOBODY, PLAYERS, Observation, move_name, move_number
from fogplay.games.doudizhu_cards import show
from fogplay.games.doudizhu_heads import LEAD, PASS, describe, is_bomb
from fogplay.games.doudizhu_moves import all_moves, follow
from fogplay.games.doudizhu_worlds import split_bounds
from fogplay.play.advice import Guess
from fogplay.play.agent import Uniform
from fogplay.play.view import View

Numbers = NDArray[np.float64]  # of the rules of thumb
_SHOWN = 4  # other moves in the advice of a bot that does not search
_BIDS = (-60.0, -50.0, -40.0)  # worths of a hand from which to bid 1, 2, 3

STRONG = Settings(
    playouts=2000, worlds=512, candidates=8, exact=20, doubt=1.0, pass_doubt=1.0, effective=0.4, doubling=0.2,
    trust=0.01, solver_nodes=3000, all_nodes=60_000,
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A move that a bot thought of."""

    action: int
    name: str  # its cards, or pass
    win_rate: float | None  # of the side to move, in playouts; None if the bot does not estimate it
    playouts: int
    reason: str


@dataclass(frozen=True)
class Advice:
    """What a bot would do, the moves that it compared, the best first, and what it takes the others to hold."""

    action: int
    candidates: tuple[Candidate, ...]
    guesses: tuple[Guess, ...] = ()

    @property
    def reason(self) -> str:
        return self.candidates[0].reason


def sight_from(seen: Observation) -> Sight:
    """What the compiled bots are asked with; the landlord is seat 0 there."""
    after, before = (seen.seat + 1) % PLAYERS, (seen.seat + 2) % PLAYERS
    return Sight(
        (seen.seat - seen.landlord) % PLAYERS,
        np.uint64(seen.hand),
        np.uint64(seen.unseen),
        seen.cards_left[after],
        seen.cards_left[before],
        seen.to_beat,
        (seen.leader - seen.landlord) % PLAYERS,
    )


def table_from(seen: Observation) -> Table:
    """What ``strong`` works on: how to draw the hidden hands, and the moves so far."""
    others = [(seen.seat + 1) % PLAYERS, (seen.seat + 2) % PLAYERS]
    is_landlord = (others[0] == seen.landlord, others[1] == seen.landlord)
    played = (seen.played[others[0]], seen.played[others[1]])
    bounds = split_bounds(seen.hand + seen.played[seen.seat], seen.shown, played, is_landlord)
    gains = [seen.shown if landlord else 0 for landlord in is_landlord]
    facts, to_beat, passes = np.zeros((len(seen.moves), 5), np.int64), LEAD, 0
    heads, cards = all_moves().heads[list(seen.moves)], all_moves().cards[list(seen.moves)]
    for place, head in enumerate(heads):
        seat = place % PLAYERS
        leader = seat if to_beat == LEAD else (seat - 1 - passes) % PLAYERS
        facts[place] = seat, to_beat, leader, passes, head
        to_beat, passes = map(int, follow(to_beat, passes, int(head)))
    return Table(
        (seen.seat - seen.landlord) % PLAYERS,
        np.uint64(seen.hand),
        seen.to_beat,
        seen.passes,
        np.array([*bounds, *gains, *played], np.uint64),
        facts,
        cards,
    )


class Random(Uniform):
    """Draws every legal move, kickers and all, with the same probability."""

    def explain(self, view: View) -> Advice:
        """The move that this view's luck draws."""
        action = self.act(view)
        why = f"drawn from {len(view.legal)} legal moves, all equally likely"
        return Advice(action, (Candidate(action, view.names[view.legal.index(action)], None, 0, why),))


class Compiled:
    """A compiled bot at a table: it bids by what its hand is worth, and can say why it moves as it does."""

    def __init__(self, kind: int, numbers: Numbers | None = None) -> None:
        self.bot = arena.bot(kind, numbers)

    def act(self, view: View) -> int:
        """The move, or the bid."""
        seen = view.observation
        return bid(seen, view.legal, self.bot) if seen.landlord == NOBODY else self.move(seen, view.luck)

    def move(self, seen: Observation, luck: float) -> int:
        """The number of the move."""
        _, cards = arena.asked(self.bot, sight_from(seen), np.zeros(2, np.uint64))
        return known_number(cards)

    def explain(self, view: View) -> Advice:
        """The move and its reason; candidates have no win rates."""
        seen, action = view.observation, self.act(view)
        if seen.landlord == NOBODY:
            return bid_advice(action, seen, self.bot)
        others = [number for number in view.legal if number != action]
        others.sort(key=lambda number: -worth_after(seen, number, self.bot))
        return Advice(action, tuple(self._candidate(seen, number) for number in (action, *others[:_SHOWN])))

    def _candidate(self, seen: Observation, number: int) -> Candidate:
        return Candidate(number, move_name(number), None, 0, reason(seen, number, self.bot))


class Strong(Compiled):
    """Plays by sampled worlds, playouts and exact endings."""

    def __init__(self, settings: Settings = STRONG, numbers: Numbers | None = None) -> None:
        self.settings, self.mind = checked(settings), playouts.mind(numbers)
        self.bot = self.mind.bot

    def move(self, seen: Observation, luck: float) -> int:
        self._think(seen, luck)
        return known_number(self.mind.cards[0])

    def explain(self, view: View) -> Advice:
        """The move and the candidates with their win rates in the playouts."""
        seen = view.observation
        if seen.landlord == NOBODY:
            return bid_advice(self.act(view), seen, self.bot)
        count, mind, found = self._think(seen, view.luck), self.mind, []
        for place in range(count):
            number, tried = known_number(mind.cards[place]), int(mind.tried[place])
            rate = float(mind.won[place] / tried) if tried else None
            found.append(Candidate(number, move_name(number), rate, tried, reason(seen, number, self.bot)))
        return Advice(found[0].action, tuple(found))

    def _think(self, seen: Observation, luck: float) -> int:
        """Sort the candidates, the best first; return how many there are."""
        mind = self.mind
        count = int(playouts.list_candidates(sight_from(seen), self.settings.candidates, mind))
        mind.tried[:] = 0
        if count > 1 and int(mind.cards[0]) != seen.hand:
            mind.rng[:] = np.random.SeedSequence(int(luck * 2**53)).generate_state(2, np.uint64)
            playouts.deliberate(table_from(seen), self.settings, mind, count)
        return count


def checked(settings: Settings) -> Settings:
    """The settings, unless some number is impossible."""
    limits = {
        "playouts": (1, 10**7), "worlds": (1, playouts.MOST_WORLDS), "candidates": (2, playouts.MOST_CANDIDATES),
        "exact": (0, endgame.MOST_CARDS),
        "doubt": (0.001, 1), "pass_doubt": (0.001, 1), "effective": (0, 1), "doubling": (0, 1), "trust": (0, 2),
        "solver_nodes": (1, 10**9), "all_nodes": (1, 10**9),
    }  # fmt: skip
    for name, (least, most) in limits.items():
        if not least <= getattr(settings, name) <= most:
            raise FogplayError(f"strong: {name} must be from {least} to {most:,}, not {getattr(settings, name)!r}")
    return settings


# ---- Bids


def bid(seen: Observation, legal: tuple[int, ...], bot: Bot) -> int:
    """The highest bid that the hand is worth, or a pass."""
    worth = best(np.uint64(seen.hand), 0, bot.memo)[0]
    wanted = sum(worth >= threshold for threshold in _BIDS)
    return max(number for number in legal if number <= wanted)


def bid_advice(action: int, seen: Observation, bot: Bot) -> Advice:
    """A bid and its reason."""
    groups = split(np.uint64(seen.hand), bot.memo, bot.groups)
    why = f"the hand splits into {groups} groups"
    return Advice(action, (Candidate(action, BID_NAMES[action], None, 0, why),))


# ---- Reasons


def known_number(cards: Any) -> int:
    """The number of the move that these cards are."""
    number = move_number(int(cards))
    assert number is not None
    return number


def worth_after(seen: Observation, number: int, bot: Bot) -> float:
    """What the hand is worth after a move."""
    return float(best(np.uint64(seen.hand) - all_moves().cards[number], 0, bot.memo)[0])


def reason(seen: Observation, number: int, bot: Bot) -> str:
    """A short sentence on what a move does."""
    sight, cards, head = sight_from(seen), int(all_moves().cards[number]), int(all_moves().heads[number])
    if cards == seen.hand:
        return "plays the last cards and wins"
    count = split(np.uint64(seen.hand - cards), bot.memo, bot.groups)
    plan = " ".join(show(word) for word in sorted(bot.groups.cards[:count].tolist()))
    if head == PASS:
        if are_enemies(sight.seat, sight.leader):
            return f"saves its cards: {plan}"
        return f"leaves the trick to its partner, who has {partner_left(sight)} left"
    notes = [describe(head), f"leaves {plan}"]
    if is_top(head, sight.unseen, max(sight.left, sight.left_before)):
        notes.append("nobody can beat it")
    if is_bomb(head):
        notes.append("doubles the score")
    return "; ".join(notes)
