"""Doudizhu beside other programs: situations of random games, and the legal moves that each program finds there.

    python -m tests.games.doudizhu_peers --rlcard 2000000 --openspiel 200000

compares many; the tests compare a few.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from fogplay.games.doudizhu_cards import NUM_RANKS, RANKS, pack, show
from fogplay.games.doudizhu_heads import (
    BOMB,
    FOUR_PAIRS,
    FOUR_SOLOS,
    HEAD_CATEGORY,
    HEAD_RANK,
    KICKERS,
    LEAD,
    LENGTH,
    NO_KICKERS,
    ROCKET_HEAD,
)  # fmt: skip
from fogplay.games.doudizhu_moves import all_moves, follow, legal_moves

Situation = tuple[int, int, int]  # a hand, the head to beat, the cards to beat


def situations(rng: random.Random) -> Iterator[Situation]:
    """The situations of random games, one game after the other."""
    deck = [rank for rank in range(NUM_RANKS) for _ in range(4 if rank < 13 else 1)]
    while True:
        rng.shuffle(deck)
        hands = [pack(deck[:20]), pack(deck[20:37]), pack(deck[37:])]
        to_beat, passes, last = LEAD, 0, 0
        for turn in itertools.cycle(range(3)):
            yield hands[turn], to_beat, last
            heads, cards = legal_moves(hands[turn], to_beat)
            choice = rng.randrange(len(heads))
            hands[turn] -= int(cards[choice])
            if hands[turn] == 0:
                break
            to_beat, passes = map(int, follow(to_beat, passes, int(heads[choice])))
            last = 0 if to_beat == LEAD else int(cards[choice]) or last


# ---- RLCard


class RLCard:
    """RLCard's own functions for the moves of a hand and for what beats what."""

    def __init__(self) -> None:
        from rlcard.games.doudizhu.judger import DoudizhuJudger
        from rlcard.games.doudizhu.utils import get_gt_cards

        self.leads, self.following = DoudizhuJudger.playable_cards_from_hand, get_gt_cards

    def legal(self, hand: int, last: int) -> set[str]:
        """The moves of a hand as RLCard writes them; ``last`` are the cards to beat, if any."""
        if last == 0:
            return set(self.leads(show(hand)))
        held = [SimpleNamespace(rank=letter, suit="") for letter in show(hand)]
        found = self.following(SimpleNamespace(current_hand=held), SimpleNamespace(played_cards=show(last)))
        assert len(set(found)) == len(found)
        return set(found)


def compare_rlcard(count: int, seed: int) -> int:
    """Compare ``count`` situations; return how many moves were found in all. An AssertionError shows the first
    difference."""
    peer, moves = RLCard(), 0
    for hand, to_beat, last in itertools.islice(situations(random.Random(seed)), count):
        ours = {show(cards) or "pass" for cards in legal_moves(hand, to_beat)[1].tolist()}
        theirs = peer.legal(hand, last)
        assert ours == theirs, (show(hand), show(last), sorted(ours ^ theirs))
        moves += len(ours)
    return moves


# ---- OpenSpiel


class OpenSpiel:
    """OpenSpiel's game, its moves as cards, and those that both programs read alike."""

    def __init__(self) -> None:
        import pyspiel

        self.game = pyspiel.load_game("dou_dizhu")
        state = self.started(random.Random(1))[0]
        self.names = {action: str(state.action_to_string(0, action)) for action in range(4, 26_057)}
        self.cards = {action: pack(_ranks(name)) for action, name in self.names.items()}
        times: dict[int, int] = {}
        for cards in self.cards.values():
            times[cards] = times.get(cards, 0) + 1
        number = all_moves().number
        self.ours = {  # the numbers of moves that both have and read alike
            action: number[cards] for action, cards in self.cards.items() if times[cards] == 1 and cards in number
        } | {0: 0}

    def started(self, rng: random.Random) -> tuple[Any, list[int]]:
        """A state after a deal and a bid of three by the first player, and the hands."""
        state, dealt = self.game.new_initial_state(), []
        while state.is_chance_node():
            action = rng.choice(state.chance_outcomes())[0]
            dealt.append(str(state.action_to_string(-1, action)))
            state.apply_action(action)
        first = state.current_player()
        state.apply_action(3)
        cards = [_ranks(name.removeprefix("Deal "))[-1] for name in dealt if name.startswith("Deal ")]
        hands = [cards[seat::3] for seat in range(3)]
        left = [rank for rank in range(NUM_RANKS) for _ in range(4 if rank < 13 else 1)]
        for rank in cards:
            left.remove(rank)
        hands[first] += left
        return state, [pack(hand) for hand in hands]


def _ranks(name: str) -> list[int]:
    plain = name.replace("(BWJ)", "B").replace("(CJ)", "R").replace("-", "")
    return [RANKS.index(letter) for letter in plain if letter in RANKS]


def compare_openspiel(count: int, seed: int) -> int:
    """Compare ``count`` situations of games in which only moves that both read alike are made."""
    peer, rng, done, moves = OpenSpiel(), random.Random(seed), 0, 0
    heads, cards = all_moves().heads, all_moves().cards
    alike = set(peer.ours.values())
    while done < count:
        state, hands = peer.started(rng)
        to_beat, passes = LEAD, 0
        while not state.is_terminal() and done < count:
            player = state.current_player()
            theirs = {peer.ours[action]: action for action in state.legal_actions() if action in peer.ours}
            numbers = [all_moves().number[each] for each in legal_moves(hands[player], to_beat)[1].tolist()]
            ours = {number for number in numbers if number in alike}
            missing, more = openspiel_differs(hands[player], to_beat)
            difference = (ours - missing) | more, set(theirs)
            assert difference[0] == difference[1], (show(hands[player]), to_beat, [show(cards[n]) for n in ours])
            move = rng.choice(sorted(ours & set(theirs)))
            hands[player] -= int(cards[move])
            to_beat, passes = map(int, follow(to_beat, passes, int(heads[move])))
            state.apply_action(theirs[move])
            done, moves = done + 1, moves + len(ours)
    return moves


def openspiel_differs(hand: int, to_beat: int) -> tuple[set[int], set[int]]:
    """What OpenSpiel 2.0.2 lacks and has in addition here, of the moves that it has at all.

    Nobody is offered chains without kickers that begin at a rank of which they hold four cards, and bombs beat the
    rocket.
    """
    heads, cards = (part.tolist() for part in legal_moves(hand, LEAD if to_beat == ROCKET_HEAD else to_beat))
    number = all_moves().number
    if to_beat == ROCKET_HEAD:
        return set(), {number[each] for head, each in zip(heads, cards, strict=True) if HEAD_CATEGORY[head] == BOMB}
    chains = [head for head in heads if LENGTH[HEAD_CATEGORY[head]] > 1 and KICKERS[HEAD_CATEGORY[head]] == NO_KICKERS]
    four = {head for head in chains if hand >> 4 * int(HEAD_RANK[head]) & 15 == 4}
    return {number[each] for head, each in zip(heads, cards, strict=True) if head in four}, set()


def only_ours() -> set[int]:
    """The numbers of our moves that OpenSpiel does not have: a four with two."""
    return {int(n) for n in np.flatnonzero(np.isin(HEAD_CATEGORY[all_moves().heads], (FOUR_SOLOS, FOUR_PAIRS)))}


# ---- DouZero


def douzero_planes_and_fours() -> set[int]:
    """The cards of all planes with solos and fours with two solos by DouZero's rule: any other cards are kickers.

    A slow and independent generator: all sets of kickers of the deck's other cards.
    """
    deck = [rank for rank in range(NUM_RANKS) for _ in range(4 if rank < 13 else 1)]
    found = set()
    for length in range(1, 6):
        for start in range(13 if length == 1 else 13 - length):
            chain = range(start, start + length)
            others = [rank for rank in deck if rank not in chain]
            copies, number = (4, 2) if length == 1 else (3, length)
            for kickers in set(itertools.combinations(others, number)):
                found.add(pack([*(rank for rank in chain for _ in range(copies)), *kickers]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare legal moves with other programs.")
    parser.add_argument("--rlcard", type=int, default=0)
    parser.add_argument("--openspiel", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for name, count, compare in (
        ("RLCard", given.rlcard, compare_rlcard),
        ("OpenSpiel", given.openspiel, compare_openspiel),
    ):
        if count:
            began = time.perf_counter()
            moves = compare(count, given.seed)
            print(f"{name}: {count:,} situations alike, {moves:,} moves, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
