"""Doudizhu's compiled simulator and random games beside the rules in Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.games.doudizhu import move_number
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import LEAD
from fogplay.games.doudizhu_moves import all_moves, count_moves
from fogplay.games.doudizhu_worlds import draw_others, less, ways_buffer
from fogplay.play import Seeded, Table
from fogplay.simulators import simulator_for
from fogplay.simulators.doudizhu import (
    CARDS,
    COUNT,
    HISTORY,
    PLAYER,
    SHOWN,
    TO_BEAT,
    DoudizhuSimulator,
    draw_start,
    history_key,
    infoset_key,
    make_move,
)  # fmt: skip
from fogplay.simulators.doudizhu_random import deal_cards, random_game, random_games, seed_game
from fogplay.simulators.questions import payoff
from fogplay.simulators.streams import streams
from tests.helpers import ROOT


@pytest.mark.parametrize("spring", [False, True])
def test_the_simulator_plays_by_the_rules(spring: bool) -> None:
    game = fp.load(f"doudizhu(spring={spring})")
    worker = DoudizhuSimulator(game).worker()
    rows, rng, numbers = worker.rows, streams(1, 1)[0], np.random.default_rng(1)
    for _ in range(20):
        draw_start(worker.root, rows, rng)
        hands, shown = [int(word) for word in rows.words[0, :3]], int(rows.words[0, SHOWN])
        state = game.after_deal([hands[0] - shown, *hands[1:]], shown)
        node = 0
        while not state.is_terminal():
            seat, legal = state.current_player(), state.legal_actions()
            assert (rows.facts[node, PLAYER], rows.facts[node, TO_BEAT]) == (seat, state.at.to_beat)
            assert rows.facts[node, COUNT] == len(legal)
            assert tuple(rows.words[node, :3].tolist()) == state.at.hands
            made = all_moves().cards[list(state.at.moves)]
            assert rows.words[node, HISTORY] == history_key(np.uint64(shown), made)
            action = int(numbers.integers(len(legal)))
            make_move(rows, node, action)
            node += 1
            assert move_number(rows.words[node, CARDS]) == legal[action]
            state = state.child(legal[action])
        assert rows.facts[node, PLAYER] < 0
        assert [payoff(worker, node, 0, player) for player in range(3)] == state.returns()


def test_episodes_from_a_situation_begin_in_its_worlds() -> None:
    game = fp.load("doudizhu")
    table, simulator, rng = Table(game, Seeded(2)), DoudizhuSimulator(game), np.random.default_rng(1)
    stream = streams(3, 1)[0]
    while not table.is_over:
        (seat,) = table.to_act
        view = table.view(seat)
        seen = view.observation
        worker = simulator.rooted(view, rng)
        keys = set()
        for _ in range(5):
            draw_start(worker.root, worker.rows, stream)
            hands = worker.rows.words[0, :3]
            assert int(hands[seat]) == seen.hand
            assert tuple(int(num_cards(hand)) for hand in hands) == seen.cards_left
            assert int(hands.sum()) == seen.hand + seen.unseen
            assert worker.rows.facts[0, COUNT] == len(view.legal)
            keys.add(int(infoset_key(worker.rows.words[0, HISTORY], hands[seat], seat)))
        assert len(keys) == 1
        in_doubt(simulator.rooted(view, rng, doubt=True), seen, stream)
        table.take(seat, view.legal[int(rng.integers(len(view.legal)))])


def in_doubt(worker: Any, seen: Any, stream: Any) -> None:
    """Every other episode begins in a world that another player holds possible, as large and as consistent."""
    own = []
    for _ in range(6):
        draw_start(worker.root, worker.rows, stream)
        hands = worker.rows.words[0, :3]
        own.append(int(hands[seen.seat]))
        assert tuple(int(num_cards(hand)) for hand in hands) == seen.cards_left
        assert int(hands.sum()) == seen.hand + seen.unseen
        assert worker.rows.facts[0, COUNT] == count_moves(hands[seen.seat], seen.to_beat)
        left = less(seen.shown, seen.played[0])
        assert less(left, int(hands[0])) == 0
    assert own[::2] == [seen.hand] * 3
    assert seen.cards_left[seen.seat] < 8 or set(own[1::2]) != {seen.hand}


def test_worlds_are_drawn_alike_in_compiled_code() -> None:
    table, rng = Table(fp.load("doudizhu"), Seeded(6)), np.random.default_rng(6)
    while not table.is_over:
        (seat,) = table.to_act
        view = table.view(seat)
        seen = view.observation
        seed = int(rng.integers(2**32))
        world = view.world(np.random.default_rng(seed)).at.hands
        hands = np.zeros(3, np.uint64)
        hands[seat] = seen.hand
        numbers = np.random.default_rng(seed).random(15)
        draw_others(hands, seat, np.array(seen.played, np.uint64), np.uint64(seen.shown), numbers, ways_buffer())
        assert tuple(hands.tolist()) == world
        table.take(seat, view.legal[int(rng.integers(len(view.legal)))])


def test_it_learns_saves_names_and_resumes(tmp_path: Path) -> None:
    found = fp.solve("doudizhu", "smooth-uct", 60, seed=1, infosets=1000).strategy
    assert len(found.infosets) == 180
    for name in found.infosets[:20]:
        seat, _, rest = name.partition(":")
        hand, shown, _ = rest.split("|")
        assert seat in "012"
        assert 0 < len(hand) <= 20
        assert len(shown) == 3
    with pytest.raises(fp.FogplayError, match="use es-mccfr, os-mccfr, smooth-uct or uct"):
        fp.solve("doudizhu", "cs-mccfr", 1)
    assert simulator_for("doudizhu(bidding=True)").inner.note is not None


def test_deals_are_uniform() -> None:
    """Every rank is in every hand as often as its cards say, and pairs of jokers as often as chance says."""
    rng, deals = np.zeros(2, np.uint64), 4000
    counts, rockets = np.zeros(4), Counter[int]()
    for number in range(deals):
        seed_game(5, number, rng)
        hands = [int(word) for word in deal_cards(rng)]
        assert [int(num_cards(np.uint64(hand))) for hand in hands] == [17, 17, 17, 3]
        assert sum(hands) == 0x114444444444444
        counts += [hand >> 52 & 1 for hand in hands]
        rockets.update(place for place, hand in enumerate(hands) if hand >> 52 == 0x11)
    expected = np.array([17, 17, 17, 3]) / 54 * deals
    assert (((counts - expected) ** 2 / expected).sum()) < 16
    assert abs(sum(rockets[seat] for seat in range(3)) - deals * 3 * 17 * 16 / (54 * 53)) < 4 * np.sqrt(deals * 0.285)


def test_random_games_are_games() -> None:
    checksums, points, moves = random_games(1, 0, 200)
    again = random_games(1, 100, 100)
    assert checksums[100:].tolist() == again[0].tolist()
    assert len(set(checksums.tolist())) == 200
    assert random_games(2, 0, 1)[0] != checksums[0]
    assert all(abs(int(each)).bit_count() == 1 for each in points)
    assert 20 < moves.mean() < 100
    rng = np.zeros(2, np.uint64)
    assert tuple(map(int, random_game(1, 7, rng))) == (int(checksums[7]), int(points[7]), int(moves[7]))
    assert count_moves(np.uint64(0x1), LEAD) == 1


ON_A_GPU = """
import numpy as np
from fogplay.simulators.doudizhu_random import random_games
found = random_games(1, 0, 3, device="cuda")
print(" ".join(str(int(each)) for part in found for each in part))
"""


def test_the_same_games_on_a_gpu(tmp_path: Path) -> None:
    """In numba's simulator of one."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "FOGPLAY_CACHE": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", ON_A_GPU]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(int(each)) for part in random_games(1, 0, 3) for each in part]


def test_random_games_compile_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """To assembly, which needs no GPU."""
    pytest.importorskip("numba_cuda", reason="the extra gpu is not installed")
    import numba
    import numba.cuda.compiler
    import numba.cuda.dispatcher

    from fogplay.simulators.doudizhu_gpu import play

    some = type("Device", (), {"compute_capability": (9, 0)})
    for module in (numba.cuda.compiler, numba.cuda.dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: some)
    results = np.zeros(4, np.uint64), np.zeros(4, np.int32), np.zeros(4, np.int32)
    types = tuple(numba.typeof(each) for each in (1, 0, *results))
    cuda: Any = numba.cuda
    text = cuda.compile_ptx(play.py_func, types, cc=(9, 0))[0]
    assert ".entry" in text
    assert ".f32" not in text
