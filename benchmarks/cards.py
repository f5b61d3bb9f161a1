"""Speed of the card code: evaluating hands, looking up boards and buckets, building and loading tables. One core.

    python benchmarks/cards.py            # everything but the build
    python benchmarks/cards.py --build    # builds the tables again, into a temporary folder

prints a table. Hands and deals are random; each number is the best of five runs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable

import numpy as np

from fogplay.cards import buckets, tables
from fogplay.cards.buckets import Grid, board_entry, bucket_of, bucket_on
from fogplay.cards.deals import Deals, deals_buffer, look_up_batch
from fogplay.cards.deck import draw_cards, new_deck
from fogplay.cards.evaluator import evaluate7, evaluator
from fogplay.cards.index import canonical_board, canonical_hole
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import streams, uniform

HANDS = 4_000_000
DEALS = 2_000_000
RUNS = 5


@kernel
def evaluate_given(tables, hands):
    """Evaluate ``hands[n, 7]``; return the sum, so that the compiler cannot skip any."""
    total = 0
    for n in range(len(hands)):
        total += evaluate7(
            tables, hands[n, 0], hands[n, 1], hands[n, 2], hands[n, 3], hands[n, 4], hands[n, 5], hands[n, 6]
        )
    return total


@piece
def deal(deck, rng):
    """Two players' hole cards and the board."""
    for three in range(3):
        draw_cards(deck, 3 * three, 3, uniform(rng))
    return deck[0], deck[1], deck[2], deck[3], (deck[4], deck[5], deck[6], deck[7], deck[8])


@kernel
def deal_only(deck, rng, count):
    total = 0
    for _ in range(count):
        a, b, c, d, board = deal(deck, rng)
        total += a + b + c + d + board[0] + board[1] + board[2] + board[3] + board[4]
    return total


@kernel
def deal_and_evaluate(tables, deck, rng, count):
    total = 0
    for _ in range(count):
        a, b, _, _, board = deal(deck, rng)
        total += evaluate7(tables, a, b, board[0], board[1], board[2], board[3], board[4])
    return total


@kernel
def deal_and_index(signals, deck, rng, count, street):
    total = 0
    for _ in range(count):
        a, b, c, d, board = deal(deck, rng)
        entry = board_entry(signals, street, board)
        total += np.int64(canonical_board(entry) + canonical_hole(entry, a, b) + canonical_hole(entry, c, d))
    return total


@kernel
def deal_and_look_up(signals, deck, rng, count, street):
    total = 0
    for _ in range(count):
        a, b, c, d, board = deal(deck, rng)
        entry = board_entry(signals, street, board)
        total += bucket_on(signals, street, entry, a, b) + bucket_on(signals, street, entry, c, d)
    return total


@kernel
def deal_and_look_up_in_turn(signals, deck, rng, count, street):
    """The same, but each deal waits for the buckets of the previous one, as an episode waits before it acts."""
    total = 0
    for _ in range(count):
        a, b, c, d, board = deal(deck, rng)
        entry = board_entry(signals, street, board)
        found = bucket_on(signals, street, entry, a, b) + bucket_on(signals, street, entry, c, d)
        rng[0] ^= np.uint64(found)
        total += found
    return total


@kernel
def deal_and_look_up_all(signals, deck, rng, count):
    total = 0
    for _ in range(count):
        a, b, c, d, board = deal(deck, rng)
        for street in range(4):
            total += bucket_of(signals, street, a, b, board) + bucket_of(signals, street, c, d, board)
    return total


@kernel
def deal_ahead(signals, evaluator, deals, deck, rng, batches):
    """Everything about many deals at once; also both strengths at showdown."""
    total = 0
    for _ in range(batches):
        for deal in range(len(deals.cards)):
            cards = deals.cards.shape[1]
            for first in range(0, cards, 3):
                draw_cards(deck, first, 3, uniform(rng))
            for place in range(cards):
                deals.cards[deal, place] = deck[place]
        look_up_batch(signals, evaluator, deals)
        for deal in range(len(deals.cards)):
            for player in range(deals.bucket.shape[1]):
                for street in range(4):
                    total += deals.bucket[deal, player, street]
                total += deals.strength[deal, player]
    return total


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest run, after one that compiles."""
    work()
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def show(what: str, result: str) -> None:
    print(f"| {what} | {result} |", flush=True)


def random_hands(count: int) -> np.ndarray:
    """[count, 7] different cards, in random order."""
    rng = np.random.default_rng(1)
    hands = np.argpartition(rng.random((count, 52), dtype=np.float32), 7, axis=1)[:, :7]
    return rng.permuted(hands, axis=1).astype(np.uint8)


def evaluation(count: int, deals: int) -> None:
    ours, hands = evaluator(), random_hands(count)
    deck, rng = new_deck(), streams(1, 1)[0]
    rate = count / best(lambda: evaluate_given(ours, hands)) / 1e6
    show("7-card hands evaluated, cards from an array of random hands", f"{rate:.0f} M/s")
    dealt = best(lambda: deal_only(deck, rng, deals)) / deals * 1e9
    both = best(lambda: deal_and_evaluate(ours, deck, rng, deals)) / deals * 1e9
    show("9 cards dealt inside the kernel (for two players)", f"{dealt:.1f} ns")
    show("the same and one 7-card hand of them evaluated", f"{both:.1f} ns, so {both - dealt:.1f} ns for the hand")
    try:
        import phevaluator
    except ImportError:
        return
    few = [tuple(map(int, hand)) for hand in hands[:200_000]]
    peer = len(few) / best(lambda: [phevaluator.evaluate_cards(*hand) for hand in few]) / 1e6
    show("phevaluator from Python, same hands", f"{peer:.2f} M/s")


def lookups(count: int) -> None:
    mapped = buckets.signals(Grid())
    copied = mapped._replace(**{name: np.array(getattr(mapped, name)) for name in ("flop", "turn", "river")})
    spread = buckets.signals(Grid(percentile=True))
    deck, rng = new_deck(), streams(2, 1)[0]
    dealt = best(lambda: deal_only(deck, rng, count)) / count * 1e9

    def beyond(work: Callable[[], object]) -> str:
        return f"{best(work) / count * 1e9 - dealt:.1f} ns"

    for street, name in ((1, "flop"), (2, "turn"), (3, "river")):
        show(
            f"{name}: index of the board and both hands",
            beyond(lambda s=street: deal_and_index(mapped, deck, rng, count, s)),
        )  # type: ignore[misc]
        for tables_of, how in ((mapped, "memory-mapped"), (copied, "copied to memory"), (spread, "percentile grid")):
            both = beyond(lambda s=street, t=tables_of: deal_and_look_up(t, deck, rng, count, s))  # type: ignore[misc]
            wait = beyond(lambda s=street, t=tables_of: deal_and_look_up_in_turn(t, deck, rng, count, s))  # type: ignore[misc]
            show(f"{name}: both buckets, {how}", f"{both}; {wait} where the next deal waits for them")
    whole = best(lambda: deal_and_look_up_all(mapped, deck, rng, count)) / count * 1e9
    show("deal and both buckets on all four rounds, one deal after the other", f"{whole:.0f} ns")
    for size, players in ((16, 2), (64, 2), (256, 2), (64, 3)):
        deals: Deals = deals_buffer(size, players)
        batches = max(1, count // size)
        work = best(lambda d=deals, b=batches: deal_ahead(mapped, evaluator(), d, deck, rng, b))  # type: ignore[misc]
        what = f"deal, all players' buckets on all rounds and strengths, {players} players, {size} deals at once"
        show(what, f"{work / (batches * size) * 1e9:.0f} ns")


def loading() -> None:
    show("tables loaded and checked (ehs2, 406 MB)", f"{best(lambda: tables.load('ehs2')):.2f} s")


def building() -> None:
    for threads in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            before, os.environ["FOGPLAY_CACHE"] = os.environ.get("FOGPLAY_CACHE"), folder
            try:
                begin = time.perf_counter()
                tables.make(threads=threads)
                show(f"all tables built and written, {threads} thread(s)", f"{time.perf_counter() - begin:.1f} s")
            finally:
                del os.environ["FOGPLAY_CACHE"]
                if before is not None:
                    os.environ["FOGPLAY_CACHE"] = before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--build", action="store_true", help="also build the tables, with one thread and with two")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the hands to play, for a quick look")
    options = parser.parse_args()
    hands, deals = (max(1, round(options.scale * count)) for count in (HANDS, DEALS))
    print("| what | measured |\n|---|---|")
    evaluation(hands, deals)
    lookups(deals)
    loading()
    if options.build:
        building()


if __name__ == "__main__":
    main()
