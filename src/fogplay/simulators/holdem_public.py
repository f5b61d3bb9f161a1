"""Two-player hold'em learned from sampled boards, with every hand that a board allows at once.

An iteration deals one board (*public chance sampling*, Johanson, Bard, Lanctot, Gibson & Bowling 2012). Both players'
strategies are evaluated for all hands, and all their infosets on that board learn. Hands that hold a card of the board
are left out on all rounds, so every pair of hands and every board counts alike.

In CFR-BR (Johanson, Bard, Burch & Bowling 2012) each seat learns against an opponent of its own, which answers best in
the last round, hand by hand without abstraction, and learns in earlier rounds, where it may see the cards by a finer
grid. What the seat learns then cannot rely on an opponent that is as blind as itself.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import Grid
from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.simulators.holdem_boards import Deck
from fogplay.simulators.holdem_learning import FIRST, Side, learn_earlier, new_constants, reach_next
from fogplay.simulators.holdem_learning_last import Last
from fogplay.simulators.holdem_learning_last import Scratch as LastScratch
from fogplay.simulators.holdem_lines import DEEPER, Lanes, Round, Shares, lanes_of, rounds_of, slots_of
from fogplay.simulators.holdem_lookups import Buckets, Lookups, buckets_of, lookups
from fogplay.simulators.holdem_vectors import Board, Buffers, new_buffers
from fogplay.strategies.packing import WHOLE
from fogplay.trees.betting import Betting
from fogplay.vectors import WIDTH

SEATS = 2
TASKS_PER_THREAD = 4  # at most, of a round, if threads share its chunks
KIND = np.float32


class Seen(NamedTuple):
    """How a player sees the cards."""

    buckets: Buckets
    counts: Sequence[int]  # [rounds]


class _Player:
    """One seat of a game: regrets and, unless it answers best, the sums of its strategies; room for a walk."""

    def __init__(self, game: Lines, seat: int, seen: Seen, answers: bool) -> None:
        self.seat, self.seen, self.answers = seat, seen, answers
        self.regret, self.average = [], []
        for street, round_ in enumerate(game.rounds):
            chunks = game.lanes[seat][street].chunks
            last = answers and street == len(game.rounds) - 1
            rows = 0 if last else seen.counts[street] * round_.slots[seat]
            self.regret.append(np.zeros((chunks, rows, WIDTH), KIND))
            self.average.append(np.zeros((0, 0, WIDTH) if answers else (chunks, rows, WIDTH), KIND))
        shapes = [(lanes.chunks, game.hands, WIDTH) for lanes in game.lanes[seat]]
        self.reach = [np.zeros(shape, KIND) for shape in shapes]
        self.value = [np.zeros(shape, KIND) for shape in shapes]
        self.reach[0][0, :, 0] = 1.0

    def tables(self, name: str) -> dict[str, NDArray[np.float32]]:
        """All tables by name."""
        found = {}
        for street in range(len(self.regret)):
            found[f"{name} regret {self.seat} {street}"] = self.regret[street]
            found[f"{name} average {self.seat} {street}"] = self.average[street]
        return {key: table for key, table in found.items() if table.size}


class _Scratch(NamedTuple):
    """What a thread overwrites in a round."""

    buffers: Buffers
    known: NDArray[np.float32]  # [ends * hands, WIDTH] the values after the round
    of_sides: list[list[NDArray[np.float32]]]  # [seats] share, played and worth of ``Side``


class Met(NamedTuple):
    """The buckets of one round that a board's hands are in, as a player sees them."""

    bucket: NDArray[np.uint16]  # [hands] numbered anew
    met: NDArray[np.uint64]  # [met] their numbers in the grid


class Deal(NamedTuple):
    """A board as a game's players see it; hands are in order of strength, equal ones in order of buckets."""

    hands: Board
    met: list[list[Met]]  # [players][rounds]
    last: NDArray[np.uint64]  # the last round's hands: see ``holdem_learning_last.py``


class Lines:
    """The rounds of a betting tree with all their lines as lanes."""

    def __init__(self, rules: Holdem, betting: Betting) -> None:
        self.rounds: list[Round] = rounds_of(betting, rules.rounds)
        self.board: Sequence[int] = rules.board
        self.hands = math.comb(rules.ranks * rules.suits - sum(rules.board), 2)  # that a board allows
        nodes = len(betting.nodes)
        anything = Shares(
            np.zeros(nodes, np.int64), np.zeros(nodes, np.int32), np.full(3, WHOLE, np.uint8), (1,) * rules.rounds
        )
        self.lanes: list[list[Lanes]] = [
            lanes_of(betting, self.rounds, seat, anything, aligned=True) for seat in range(SEATS)
        ]
        self.stake = [[lanes.stake.astype(KIND) for lanes in of_seat] for of_seat in self.lanes]
        self.slots = [
            [
                slots_of(betting, round_, seat, self.lanes[seat][street].roots)
                for street, round_ in enumerate(self.rounds)
            ]
            for seat in range(SEATS)
        ]

        streets = range(rules.rounds)
        self.decisions = [[self._decisions(seat, street) for street in streets] for seat in range(SEATS)]

    def order(self) -> NDArray[np.int64]:
        """Where each lane of each table is in the betting tree: tables with another order are of another program."""
        return np.concatenate([lanes.roots for of_seat in self.lanes for lanes in of_seat]).astype(np.int64)

    def weights(self, average: Callable[[int, int], NDArray[np.float32]], size: int) -> NDArray[np.float32]:
        """[slots] from ``average(seat, street)[buckets, slots, lanes]``."""
        found = np.zeros(size, KIND)
        for seat, street in itertools.product(range(SEATS), range(len(self.rounds))):
            first, stride = self.slots[seat][street]
            table = average(seat, street)
            for lane, slot in itertools.product(range(len(first)), range(first.shape[1])):
                found[first[lane, slot] + stride[lane, slot] * np.arange(len(table))] += table[:, slot, lane]
        return found

    def _decisions(self, seat: int, street: int) -> NDArray[np.uint64]:
        """[decisions, 3] of a seat, parents first: the first slot, the number of actions, the slot before or FIRST."""
        round_ = self.rounds[street]
        before, found = [int(FIRST)] * round_.spots.shape[1], []
        for place, spot in enumerate(round_.spots[seat]):
            actions = round_.actions[int(spot["first"]) : int(spot["first"] + spot["count"])]
            own = spot["player"] == seat
            if own:
                found.append((int(actions[0]["slot"]), len(actions), before[place]))
            for action in actions[actions["kind"] == DEEPER]:
                before[int(action["to"])] = int(action["slot"]) if own else before[place]
        return np.array(found, np.uint64).reshape(-1, 3)


class PublicGame:
    """A learner's tables for both seats, and the iterations that fill them."""

    def __init__(
        self, rules: Holdem, betting: Betting, seen: Seen, opponent: Seen | None = None, threads: int = 1
    ) -> None:
        """With an ``opponent``, each seat learns against one that answers best in the last round."""
        self.rules, self.betting, self.seen, self.threads = rules, betting, seen, threads
        self.lines = Lines(rules, betting)
        self.players = [_Player(self.lines, seat, seen, False) for seat in range(SEATS)]
        self.rivals = [] if opponent is None else [_Player(self.lines, seat, opponent, True) for seat in range(SEATS)]
        self.games: list[tuple[_Player, _Player]] = (
            [(self.players[0], self.rivals[1]), (self.rivals[0], self.players[1])]
            if opponent is not None
            else [(self.players[0], self.players[1])]
        )
        self.deck = Deck(rules.ranks, rules.suits)
        self.lookups: Lookups = lookups(rules, seen.buckets, seen.buckets)
        left = self.deck.cards - sum(rules.board)
        self.last = [
            Last(self.lines.rounds[-1], (first.answers, second.answers), self.lines.hands, left)
            for first, second in self.games
        ]
        self.pool, self.at_once = ThreadPoolExecutor(threads), ThreadPoolExecutor(len(self.games))
        self.own = threading.local()

    # ---- What was learned

    def order(self) -> NDArray[np.int64]:
        """Where the numbers of the tables belong."""
        return self.lines.order()

    def tables(self) -> dict[str, NDArray[np.float32]]:
        """Everything learned, by name."""
        found: dict[str, NDArray[np.float32]] = {}
        for name, players in (("player", self.players), ("rival", self.rivals)):
            for player in players:
                found |= player.tables(name)
        return found

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the result of ``tables``."""
        for name, table in self.tables().items():
            table[...] = arrays[name]

    def weights(self) -> NDArray[np.float32]:
        """[slots] the average strategies, where a learner's tables have them."""
        return self.lines.weights(self._average, self.betting.num_slots)

    def _average(self, seat: int, street: int) -> NDArray[np.float32]:
        """[buckets, slots, lanes]"""
        slots, player = self.lines.rounds[street].slots[seat], self.players[seat]
        table = player.average[street].reshape(-1, self.seen.counts[street], slots, WIDTH)
        return np.moveaxis(table, 0, 2).reshape(self.seen.counts[street], slots, -1)

    # ---- Learning

    def compile(self) -> None:
        """Compile the kernels: a board that counts for nothing changes nothing."""
        self.learn_on(np.arange(sum(self.rules.board), dtype=np.uint8), 0.0)

    def learn(self, iteration: int, seed: int) -> None:
        """Deal one board, learn from it, and count what it teaches ``iteration`` times."""
        rng = np.random.default_rng([seed, iteration])
        cards = rng.permutation(self.deck.cards)[: sum(self.rules.board)].astype(np.uint8)
        self.learn_on(cards, float(iteration))

    def learn_on(self, cards: NDArray[np.uint8], weight: float) -> None:
        """Learn from one board; ``cards`` are in the order they are dealt."""
        hands, met = self._look(cards)
        constants = new_constants(weight)

        def play(number: int) -> None:
            game = self.games[number]
            deal = Deal(hands, [met[id(player.seen)] for player in game], self.last[number].pack(hands, cards))
            self._learn(number, deal, constants)

        self._share(self.at_once, play, range(len(self.games)))

    def _look(self, cards: NDArray[np.uint8]) -> tuple[Board, dict[int, list[Met]]]:
        """The hands of a board, and the buckets of all rounds as each kind of player sees them."""
        dealt = self.lookups.board(self.rules.rounds - 1, [cards.tolist()], last=True)
        count = len(dealt.hand[0])
        group = np.searchsorted(dealt.ends[0, : np.argmax(dealt.ends[0])], np.arange(count), side="right")
        order = np.lexsort((dealt.own[0], group))
        hand = dealt.hand[0][order]
        met = {}
        for seen in {id(player.seen): player.seen for game in self.games for player in game}.values():
            known = itertools.accumulate(self.rules.board)
            buckets = [seen.buckets(street, cards[:number][None])[0][hand] for street, number in enumerate(known)]
            met[id(seen)] = [_numbered(each) for each in buckets]
        own = met[id(self.seen)][-1].bucket[None]
        places = np.arange(count, dtype=np.uint16)[None]
        low, high = dealt.low[:, order], dealt.high[:, order]
        return Board(places, low, high, own, own, dealt.ends), met

    def _learn(self, number: int, deal: Deal, constants: NDArray[np.float32]) -> None:
        """Down through the rounds with both players' reach, and up with their values.

        Threads share the chunks of a round; none of them writes what another reads.
        """
        game, last = self.games[number], len(self.lines.rounds) - 1

        def go_down(street: int, chunks: NDArray[np.int64]) -> None:
            actions, ahead = self.lines.rounds[street].actions, self.lines.lanes[0][street].ahead
            sides, boards, scratch = self._sides(game, street, deal), _boards(deal, street), self._scratch(street)
            for seat in range(SEATS):
                onward = game[seat].reach[street + 1].reshape(-1, WIDTH)
                own, theirs, board = sides[1 - seat], sides[seat], boards[1 - seat]
                reach_next(actions, board, 1 - seat, own, theirs, chunks, ahead, constants, scratch.buffers, onward)

        def learn_there(street: int, chunks: NDArray[np.int64]) -> None:
            program, scratch = self.last[number], self._last_scratch(number)
            program.learn(*self._sides(game, street, deal), chunks, constants, deal.last, program.bits, *scratch)

        def go_up(street: int, chunks: NDArray[np.int64]) -> None:
            actions, ahead = self.lines.rounds[street].actions, self.lines.lanes[0][street].ahead
            sides, boards, scratch = self._sides(game, street, deal), _boards(deal, street), self._scratch(street)
            after = [player.value[street + 1].reshape(-1, WIDTH) for player in game]
            learn_earlier(
                actions, boards, *sides, chunks, ahead, *after, constants, scratch.known, scratch.buffers
            )  # fmt: skip

        for street in range(last):
            self._share_chunks(go_down, street)
        self._share_chunks(learn_there, last)
        for street in reversed(range(last)):
            self._share_chunks(go_up, street)

    def _share_chunks(self, do: Callable[[int, NDArray[np.int64]], None], street: int) -> None:
        """Do a round's chunks, a few at a time."""
        chunks = self.lines.lanes[0][street].chunks
        each = chunks if self.threads == 1 else -(-chunks // (TASKS_PER_THREAD * self.threads))
        tasks = [np.array([begin, min(begin + each, chunks)]) for begin in range(0, chunks, each)]
        self._share(self.pool, lambda task: do(street, task), tasks)

    def _share(self, pool: ThreadPoolExecutor, do: Callable[[Any], None], tasks: Iterable[Any]) -> None:
        """Do all tasks, none of which reads what another writes."""
        for _ in map(do, tasks) if self.threads == 1 else pool.map(do, tasks):
            pass

    # ---- Arrays

    def _sides(self, game: tuple[_Player, _Player], street: int, deal: Deal) -> list[Side]:
        """Both players in a round, with a thread's own scratch."""
        round_, scratch, made = self.lines.rounds[street], self._scratch(street), []
        last = street == len(self.lines.rounds) - 1
        for seat, player in enumerate(game):
            met, slots = deal.met[seat][street], round_.slots[seat]
            steps = (slots, 1) if last else (1, len(met.met))
            made.append(
                Side(
                    round_.spots[seat],
                    self.lines.decisions[seat][street],
                    player.answers and last,
                    np.uint64(slots),
                    player.regret[street],
                    player.average[street],
                    self.lines.stake[seat][street],
                    met.bucket,
                    met.met,
                    (np.uint64(steps[0]), np.uint64(steps[1])),
                    player.reach[street],
                    player.value[street],
                    *scratch.of_sides[seat],
                )
            )
        return made

    def _scratch(self, street: int) -> _Scratch:
        """A thread's own scratch for a round."""
        found: _Scratch | None = getattr(self.own, f"of_{street}", None)
        if found is None:
            round_, hands = self.lines.rounds[street], self.lines.hands
            known = np.zeros((max(round_.ends, 1) * hands, WIDTH), KIND)
            of_sides = [[np.zeros((slots * hands, WIDTH), KIND) for _ in range(3)] for slots in round_.slots]
            found = _Scratch(new_buffers(round_, hands, self.deck.cards, KIND), known, of_sides)
            setattr(self.own, f"of_{street}", found)
        return found

    def _last_scratch(self, number: int) -> LastScratch:
        """A thread's own scratch for the last round of a game."""
        found: LastScratch | None = getattr(self.own, f"last_{number}", None)
        if found is None:
            found = self.last[number].scratch()
            setattr(self.own, f"last_{number}", found)
        return found


def _numbered(buckets: NDArray[np.uint16]) -> Met:
    met, bucket = np.unique(buckets, return_inverse=True)
    return Met(bucket.astype(np.uint16), met.astype(np.uint64))


def _boards(deal: Deal, street: int) -> tuple[Board, Board]:
    """[seats] the hands of a round as the responder in each seat meets them."""
    first, second = (met[street].bucket[None] for met in deal.met)
    return deal.hands._replace(theirs=second, own=first), deal.hands._replace(theirs=first, own=second)


def public_game(rules: Holdem, betting: Betting, opponent: str | None, threads: int, device: str = "cpu") -> Any:
    """The game of a learner on these rules' grid, with an opponent that sees the cards by another, or without one."""
    rival = None if opponent is None else Seen(buckets_of(opponent), Grid.parse(opponent).counts)
    seen = Seen(buckets_of(rules.grid), rules.buckets())
    if device == "cpu":
        return PublicGame(rules, betting, seen, rival, threads)
    try:
        from fogplay.simulators.holdem_tensors import on_gpu
    except ImportError as error:
        raise FogplayError("public chance sampling on a GPU needs torch: pip install 'fogplay[neural]'") from error
    return on_gpu(rules, betting, seen, rival)
