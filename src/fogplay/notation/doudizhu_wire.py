"""Doudizhu for other programs, as Botzone's FightTheLandlord programs read and write it.

Cards are numbers from 0 to 53: 0 to 3 are the threes, and so on to 48 to 51, the twos; 52 is the black joker and 53 the
red one. A request has the moves of the two players before (``history``, with [] for a pass and before the first move);
the first also has one's own cards (``own``, for the landlord with the shown ones) and the shown ones (``publiccard``).
A response is a list of cards, [] for a pass. The game knows no suits: a player's own cards get the lowest numbers of
each rank, others' cards the next ones as they appear, so that no number tells what the player cannot know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import BID_NAMES, NOBODY, PLAYERS, Doudizhu, Observation, why_illegal
from fogplay.games.doudizhu_cards import NUM_RANKS, RED_JOKER, deck_copies, pack, show, unpack
from fogplay.games.doudizhu_moves import all_moves
from fogplay.notation.doudizhu import read_move

CARDS = 54


class DoudizhuWire:
    """Requests and responses of one game."""

    def __init__(self, game: Doudizhu) -> None:
        self.game = game

    def talk(self, view: Any, answered: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
        """The requests of this hand, the newest last, and the responses to all others."""
        seen: Observation = view.observation
        bids = self._bidding(seen)
        if seen.landlord == NOBODY:
            return bids, []
        numbers = Numbers(seen)
        requests = list(bids)
        responses: list[Any] = list(seen.bids[seen.seat : seen.seat + 1])
        placed: list[list[int]] = []  # [moves] the cards of each
        mine = iter(answered[len(responses) :])
        for move, word in enumerate([*(int(all_moves().cards[number]) for number in seen.moves), None]):
            player = (seen.landlord + move) % PLAYERS
            if player == seen.seat:
                requests.append({"history": [placed[move - back] if move >= back else [] for back in (2, 1)]})
                if word is not None:
                    responses.append(numbers.own_move(word, next(mine, None)))
            if word is not None:
                placed.append(responses[-1] if player == seen.seat else numbers.others_move(word, player))
        self._first(requests[len(bids)], seen, numbers)
        return requests, responses

    def _first(self, request: dict[str, Any], seen: Observation, numbers: Numbers) -> None:
        """Add what only the first request has."""
        request |= {"own": numbers.own, "publiccard": numbers.shown, "landlord": seen.landlord, "pos": seen.seat}
        if seen.bids:
            request["finalbid"] = max(seen.bids)

    def _bidding(self, seen: Observation) -> list[dict[str, Any]]:
        """The request for a bid, if this player has made or must make one."""
        if not self.game.bidding or (seen.landlord != NOBODY and len(seen.bids) <= seen.seat):
            return []
        dealt = seen.hand + seen.played[seen.seat] - (seen.shown if seen.landlord == seen.seat else 0)
        return [{"own": numbered(dealt), "bid": list(seen.bids[: seen.seat])}]

    def forfeit(self, view: Any) -> Any:
        """A bid must be remembered; ``talk`` finds out the cards of a move."""
        return view.legal[0] if view.observation.landlord == NOBODY else None

    def action(self, answer: Any, view: Any) -> int:
        """The move that these cards are; a move's name is understood too."""
        seen: Observation = view.observation
        if isinstance(answer, str) and answer in view.names:
            return int(view.legal[view.names.index(answer)])
        if seen.landlord == NOBODY:
            if type(answer) is not int or answer not in view.legal:
                raise FogplayError(f"a bid is one of {', '.join(BID_NAMES[bid] for bid in view.legal)}, as a number")
            return answer
        if not isinstance(answer, list) or not all(type(card) is int and 0 <= card < CARDS for card in answer):
            raise FogplayError("a move is a list of cards from 0 to 53, [] for a pass")
        if len(set(answer)) != len(answer):
            raise FogplayError("a card is there twice")
        return _legal(answer, seen)


def _legal(cards: Sequence[int], seen: Observation) -> int:
    """The number of the move that these cards are, if the player may make it now."""
    word = pack(map(rank_of, cards))
    why = why_illegal(seen.hand, seen.to_beat, word)
    if why is not None:
        raise FogplayError(why.replace("you do not hold", "it does not hold").replace("you lead", "it leads"))
    number = read_move(show(word) or "pass", seen.hand, seen.to_beat)
    if isinstance(number, str):
        raise FogplayError(number)
    return number


class Numbers:
    """The numbers of the cards that one player has seen."""

    def __init__(self, seen: Observation) -> None:
        own = seen.hand + seen.played[seen.seat]
        self.own = numbered(own)
        self._left = list(self.own)  # own cards not played yet
        self._next = [own >> 4 * rank & 15 for rank in range(NUM_RANKS)]  # the next free copy of each rank
        self._landlord = seen.landlord
        if seen.landlord == seen.seat:
            self.shown = _taken(self._left, seen.shown, remove=False)
            self._known: list[int] = []
        else:
            self.shown = self._new(seen.shown)
            self._known = list(self.shown)  # shown cards that the landlord has not played yet

    def _new(self, word: int) -> list[int]:
        """Numbers for cards that appear for the first time."""
        cards = []
        for rank in unpack(word):
            cards.append(number_of(rank, self._next[rank]))
            self._next[rank] += 1
        return cards

    def others_move(self, word: int, player: int) -> list[int]:
        """The cards of another player's move; the landlord's are the shown ones first."""
        known = _taken(self._known, word) if player == self._landlord else []
        return sorted(known + self._new(word - pack(map(rank_of, known))))

    def own_move(self, word: int, answer: Any) -> list[int]:
        """The cards of an own move: as they were answered, if that is what was played, else the lowest numbers."""
        if isinstance(answer, list) and set(answer) <= set(self._left) and pack(map(rank_of, answer)) == word:
            self._left = [card for card in self._left if card not in answer]
            return answer
        return _taken(self._left, word)


def number_of(rank: int, copy: int) -> int:
    """The number of a card."""
    return 53 if rank == RED_JOKER else 4 * rank + min(copy, deck_copies(rank) - 1)


def rank_of(card: int) -> int:
    """The rank of a card's number."""
    return RED_JOKER if card == 53 else card // 4


def numbered(word: int) -> list[int]:
    """The lowest numbers for cards."""
    return [number_of(rank, copy) for rank in range(NUM_RANKS) for copy in range(word >> 4 * rank & 15)]


def _taken(cards: list[int], word: int, remove: bool = True) -> list[int]:
    """Cards of the ranks in ``word``, as far as they are there; ``cards`` lose them."""
    wanted, found = unpack(word), []
    for card in cards:
        if rank_of(card) in wanted:
            wanted.remove(rank_of(card))
            found.append(card)
    if remove:
        for card in found:
            cards.remove(card)
    return found
