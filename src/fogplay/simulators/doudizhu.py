"""Doudizhu as a simulator: compiled rules, with infosets found by key.

A node is the number of moves since the start of the episode; a worker keeps a row for each, so that a kernel can go
back to any on the way. Infosets have 64-bit keys, a hash of the shown cards, the moves and the own hand. Python is
asked only when an infoset gets slots, to remember its name for a strategy; a search needs no names.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu import PLAYERS, Doudizhu, Observation, move_name
from fogplay.games.doudizhu_cards import NUM_RANKS, show
from fogplay.games.doudizhu_heads import LEAD, PASS, is_bomb
from fogplay.games.doudizhu_moves import WIDEST, all_moves, count_moves, follow, legal_moves, nth_move
from fogplay.games.doudizhu_worlds import draw_others, ways_buffer
from fogplay.games.game import TERMINAL
from fogplay.jit import kernel, piece
from fogplay.simulators import questions
from fogplay.simulators.doudizhu_random import deal_cards
from fogplay.simulators.find import hashed
from fogplay.simulators.hashed import HashedSimulator
from fogplay.simulators.interface import BATCH, Failure, Learned, Simulator, per_worker
from fogplay.simulators.rules import STEP, call, tabular_strategy
from fogplay.simulators.streams import below, mix, uniform
from fogplay.strategies.strategy import Situation
from fogplay.strategies.tabular import TabularStrategy

MOST_MOVES = 54 * PLAYERS  # of a game
MEAN_ACTIONS = 6.0  # in random games
MOST_VISITED = 2_000_000  # moves of one episode or traversal
PLAYER, TO_BEAT, PASSES, BOMBS, COUNT, LANDLORD_MOVES, PEASANT_MOVES, FACTS = range(8)
HISTORY, CARDS, SHOWN, WORDS = range(3, 7)  # after the hands of the three seats
VISITED, FULL, UNPLAYED, EPISODES = range(4)
_EMPTY = np.uint64(0x5851F42D4C957F2D)  # the history before the shown cards


class Root(NamedTuple):
    """Where episodes begin: at a new deal, or in a situation in which one player acts."""

    known: bool  # whether it is a situation
    doubt: bool  # whether every other episode begins in a world that another player holds possible
    words: NDArray[np.uint64]  # [WORDS] the player's own hand and the history, as in a row
    facts: NDArray[np.int64]  # [FACTS]
    played: NDArray[np.uint64]  # [3] what each seat has played before


@per_worker
class Rows(NamedTuple):
    """A worker's rows, one for each node on the way, and its scratch."""

    words: NDArray[np.uint64]  # [nodes, WORDS] hands of the seats, history, cards of the last move, shown cards
    facts: NDArray[np.int64]  # [nodes, FACTS]
    numbers: NDArray[np.float64]  # [15] random numbers of a world
    ways: NDArray[np.float64]  # scratch of draw_split
    visited: NDArray[np.int64]  # [4] moves of this episode; whether there were too many; episodes not played then; all


class DoudizhuGame(NamedTuple):
    """The arrays that an episode reads."""

    naming: int  # the address of a function to call when an infoset gets slots; 0: none
    spring: bool
    root: Root
    rows: Rows


# ---- The questions


@piece
def infoset_key(history, hand, seat):
    """The key of what a seat knows: never 0."""
    return mix(mix(history, hand), np.uint64(seat + 1)) | np.uint64(1)


@kernel
def history_key(shown, cards):
    """The hash of the shown cards and of moves ``cards[moves]``."""
    key = mix(_EMPTY, shown)
    for place in range(len(cards)):
        key = mix(key, cards[place])
    return key


@kernel
def draw_start(root, rows, rng):
    """Fill the first row: a new deal, or a world that fits the situation."""
    words, facts = rows.words, rows.facts
    rows.visited[VISITED] = 0
    if not root.known:
        first, second, third, shown = deal_cards(rng)
        words[0, 0], words[0, 1], words[0, 2] = first + shown, second, third
        words[0, HISTORY], words[0, SHOWN] = mix(_EMPTY, shown), shown
        facts[0, :] = 0
        facts[0, COUNT] = count_moves(first + shown, LEAD)
        return
    for place in range(WORDS):
        words[0, place] = root.words[place]
    for place in range(FACTS):
        facts[0, place] = root.facts[place]
    seat = root.facts[PLAYER]
    draw_world(root, rows, seat, rng)
    rows.visited[EPISODES] += 1
    if root.doubt and rows.visited[EPISODES] % 2 == 0:
        draw_world(root, rows, (seat + 1 + below(rng, 2)) % PLAYERS, rng)
        facts[0, COUNT] = min(count_moves(words[0, seat], facts[0, TO_BEAT]), WIDEST)


@kernel
def draw_world(root, rows, seat, rng):
    """Draw the hands of the first row as a seat may imagine them that holds what it holds there."""
    for rank in range(NUM_RANKS):
        rows.numbers[rank] = uniform(rng)
    draw_others(rows.words[0], seat, root.played, root.words[SHOWN], rows.numbers, rows.ways)


@kernel
def make_move(rows, node, action):
    """Fill the row after ``node`` with what follows the legal move at place ``action``."""
    words, facts, after = rows.words, rows.facts, node + 1
    seat = facts[node, PLAYER]
    head, cards = nth_move(words[node, seat], facts[node, TO_BEAT], action)
    for place in range(WORDS):
        words[after, place] = words[node, place]
    for place in range(FACTS):
        facts[after, place] = facts[node, place]
    words[after, seat] -= cards
    words[after, HISTORY] = mix(words[node, HISTORY], cards)
    words[after, CARDS] = cards
    facts[after, BOMBS] += is_bomb(head)
    if head != PASS:
        facts[after, LANDLORD_MOVES if seat == 0 else PEASANT_MOVES] += 1
    if words[after, seat] == 0:
        facts[after, PLAYER], facts[after, COUNT] = TERMINAL, 0
        return
    to_beat, passes = follow(facts[node, TO_BEAT], facts[node, PASSES], head)
    facts[after, TO_BEAT], facts[after, PASSES] = to_beat, passes
    seat = (seat + 1) % PLAYERS
    facts[after, PLAYER] = seat
    facts[after, COUNT] = min(count_moves(words[after, seat], to_beat), WIDEST)


@questions.deal.register(DoudizhuGame)
def _deal(game, rng):
    if game.rows.visited[FULL] != 0:
        game.rows.visited[UNPLAYED] += 1
    draw_start(game.root, game.rows, rng)
    return np.int64(0)


@questions.start.register(DoudizhuGame)
def _start(game, signals, rng):
    return np.int64(0)


@questions.is_terminal.register(DoudizhuGame)
def _is_terminal(game, node):
    return game.rows.facts[node, PLAYER] == TERMINAL or game.rows.visited[FULL] != 0


@questions.player_of.register(DoudizhuGame)
def _player_of(game, node):
    return game.rows.facts[node, PLAYER]


@questions.num_actions.register(DoudizhuGame)
def _num_actions(game, node):
    return game.rows.facts[node, COUNT]


@questions.key_of.register(DoudizhuGame)
def _key_of(game, node, signals):
    words, seat = game.rows.words, game.rows.facts[node, PLAYER]
    return infoset_key(words[node, HISTORY], words[node, seat], seat)


@questions.name_infoset.register(DoudizhuGame)
def _name_infoset(game, node, signals):
    if game.naming != 0:
        call(game.naming, node, 0, 0.0)


@questions.advance.register(DoudizhuGame)
def _advance(game, node, action, signals, rng):
    visited = game.rows.visited
    visited[VISITED] += 1
    if visited[VISITED] > MOST_VISITED:
        visited[FULL] = 1
    make_move(game.rows, node, action)
    return np.int64(node + 1)


@questions.payoff.register(DoudizhuGame)
def _payoff(game, node, signals, player):
    """The landlord wins or loses twice the score, each peasant once; 0 if the episode was broken off."""
    facts = game.rows.facts
    if facts[node, PLAYER] != TERMINAL:
        return 0.0
    won = game.rows.words[node, 0] == 0
    doublings = facts[node, BOMBS]
    if game.spring and (facts[node, PEASANT_MOVES] == 0 if won else facts[node, LANDLORD_MOVES] == 1):
        doublings += 1
    score = np.float64(np.int64(1) << doublings)
    mine = 2.0 * score if player == 0 else -score
    return mine if won else -mine


# ---- The simulator


class Met(NamedTuple):
    """An infoset that has slots."""

    seat: int
    hand: int
    shown: int
    to_beat: int
    moves: tuple[int, ...]  # as words of cards

    def infoset(self) -> str:
        number = all_moves().number
        names = " ".join(move_name(number[cards]) for cards in self.moves)
        return f"{self.seat}:{show(self.hand)}|{show(self.shown)}|{names}"

    def actions(self) -> list[str]:
        number = all_moves().number
        return [move_name(number[cards]) for cards in legal_moves(self.hand, self.to_beat)[1].tolist()]


class DoudizhuSimulator(Simulator):
    """Doudizhu without bidding; ``find.hashed`` adds the tables."""

    compiled = False  # Python remembers the names of infosets

    def __init__(self, rules: Doudizhu) -> None:
        self.rules = rules
        self.name = self.game = str(rules)
        self.digest = hashlib.sha256(f"{self.name} 1".encode()).hexdigest()[:16]
        self.num_players, self.widest, self.deepest, self.decisions = PLAYERS, WIDEST, MOST_MOVES, -1
        self.mean_actions = MEAN_ACTIONS
        self.payoff_range = 8.0  # the landlord's with one bomb; more bombs are rare, and must not set the exploration
        self.num_slots = 0
        self.met: dict[int, Met] = {}
        self._kept: list[Any] = []  # functions that kernels call

    def worker(self, batch: int = BATCH) -> DoudizhuGame:
        rows = _new_rows()
        function = STEP(lambda node, action, luck: self._remember(rows, node))
        self._kept.append(function)
        address = ctypes.cast(function, ctypes.c_void_p).value
        assert address is not None
        return DoudizhuGame(address, self.rules.spring, _no_root(), rows)

    def _remember(self, rows: Rows, node: int) -> int:
        """Called by a kernel: the infoset at a node has slots now."""
        seat = int(rows.facts[node, PLAYER])
        words = rows.words[: node + 1]
        key = int(infoset_key(words[node, HISTORY], words[node, seat], seat))
        hand, shown, moves = int(words[node, seat]), int(words[0, SHOWN]), tuple(words[1:, CARDS].tolist())
        self.met[key] = Met(seat, hand, shown, int(rows.facts[node, TO_BEAT]), moves)
        return 0

    def actions_per_infoset(self) -> int:
        return int(np.ceil(MEAN_ACTIONS))

    def rooted(self, view: Situation, rng: np.random.Generator, doubt: bool = False) -> DoudizhuGame:
        return DoudizhuGame(0, self.rules.spring, root_at(view.observation, doubt), _new_rows())

    def failure(self, workers: Sequence[DoudizhuGame]) -> Failure | None:
        stopped = [each.rows.visited for each in workers if each.rows.visited[FULL]]
        if not stopped:
            return None
        line = f"one iteration on {self.name} makes over {MOST_VISITED:,} moves; use os-mccfr, smooth-uct or uct"
        return Failure(line, 1 + sum(int(visited[UNPLAYED]) for visited in stopped))

    def in_progress(self, workers: Sequence[DoudizhuGame]) -> dict[str, NDArray[Any]]:
        met = self.met.values()
        lengths = np.array([len(each.moves) for each in met], np.int64)
        return {
            "infosets": np.array([each[:4] for each in met], np.uint64).reshape(len(self.met), 4),
            "infoset_length": lengths,
            "infoset_moves": np.array([cards for each in met for cards in each.moves], np.uint64),
        }

    def resume(self, workers: Sequence[DoudizhuGame], arrays: Learned) -> None:
        ends = np.cumsum(arrays["infoset_length"]).tolist()
        begins = [0, *ends[:-1]]
        for row, begin, end in zip(arrays["infosets"].tolist(), begins, ends, strict=True):
            moves = arrays["infoset_moves"][begin:end]
            seat, hand, shown, to_beat = row
            key = infoset_key(history_key(np.uint64(shown), moves), np.uint64(hand), seat)
            self.met[int(key)] = Met(seat, hand, shown, to_beat, tuple(moves.tolist()))

    def strategy_by_key(
        self,
        keys: NDArray[np.uint64],
        first: NDArray[np.int64],
        learned: Learned,
        method: str,
        greedy: bool,
        **about: Any,
    ) -> TabularStrategy:
        met = [self.met[key] for key in keys.tolist()]
        known = [(each.infoset(), each.seat, each.actions()) for each in met]
        return tabular_strategy(self.name, known, first, learned, method, greedy, **about)


def root_at(seen: Observation, doubt: bool = False) -> Root:
    """The start of episodes in which the player who saw this acts."""
    words, facts = np.zeros(WORDS, np.uint64), np.zeros(FACTS, np.int64)
    moves = all_moves().cards[list(seen.moves)]
    words[seen.seat], words[SHOWN] = seen.hand, seen.shown
    words[HISTORY] = history_key(np.uint64(seen.shown), moves)
    made = [sum(move != 0 for move in seen.moves[seat::PLAYERS]) for seat in range(PLAYERS)]
    facts[[PLAYER, TO_BEAT, PASSES, BOMBS]] = seen.seat, seen.to_beat, seen.passes, seen.bombs
    facts[COUNT] = min(count_moves(np.uint64(seen.hand), seen.to_beat), WIDEST)
    facts[[LANDLORD_MOVES, PEASANT_MOVES]] = made[0], made[1] + made[2]
    return Root(True, doubt, words, facts, np.array(seen.played, np.uint64))


def _new_rows() -> Rows:
    nodes = MOST_MOVES + 1
    words, facts = np.zeros((nodes, WORDS), np.uint64), np.zeros((nodes, FACTS), np.int64)
    return Rows(words, facts, np.zeros(NUM_RANKS), ways_buffer(), np.zeros(4, np.int64))


def _no_root() -> Root:
    return Root(False, False, np.zeros(WORDS, np.uint64), np.zeros(FACTS, np.int64), np.zeros(PLAYERS, np.uint64))


def simulator(game: Doudizhu, progress: Any = None) -> HashedSimulator | None:
    """The simulator that this game should be learned through; None with bidding, which the rules play as they are."""
    return None if game.bidding else hashed(DoudizhuSimulator(game))
