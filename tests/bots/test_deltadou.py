"""DeltaDou: its search against the solver, what a player may not see, and how it is asked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.agents.resolve import names_of, resolve
from fogplay.bots.doudizhu import (
    DeltaDou,
    DeltaSettings,
    arena,
    endgame,
    evaluators,
    expansion,
    fpmcts,
    inference,
    lockstep,
    player,
)
from fogplay.bots.doudizhu.asking import Asking, Evaluate
from fogplay.bots.doudizhu.deltadou import Mind, look_around
from fogplay.bots.doudizhu.evaluators import by_networks, by_rules
from fogplay.bots.doudizhu.inference import Situations
from fogplay.cli import app
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu
from fogplay.games.doudizhu_cards import FULL_DECK, pack, unpack
from fogplay.games.doudizhu_heads import head_of
from fogplay.play import Table
from fogplay.play.luck import Seeded
from fogplay.search.trees import best_action
from fogplay.simulators.doudizhu_features import (
    FACTS,
    HANDS,
    HEAD_WORDS,
    LAST,
    OVER,
    PASSES,
    SEAT,
    SEEN,
    TO_BEAT,
    WORDS,
    look,
)
from fogplay.simulators.doudizhu_policy import OUTPUTS, cards_of_move, draw_move, ways_buffer
from fogplay.simulators.streams import many_streams
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network
from tests.bots.networks import hidden, played_on, tiny_networks


def uniform_evaluator(_seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.zeros((len(seen), OUTPUTS), np.float32)


def endings(count: int, cards: int) -> list[tuple[list[int], int]]:
    """Open endings in which the player to lead wins, but not with every move."""
    rng, found = np.random.default_rng(9), []
    while len(found) < count:
        deck = rng.permutation(unpack(int(FULL_DECK)))
        sizes = rng.multinomial(cards - 6, [1 / 3] * 3) + 2
        hands = [pack(map(int, deck[3 * 8 * seat : 3 * 8 * seat + sizes[seat]])) for seat in range(2)]
        hands.append(pack(map(int, deck[48 : 48 + min(sizes[2], 6)])))
        seat = int(rng.integers(3))
        values = values_of_moves(hands, seat)
        if max(values.values()) > 0 > min(values.values()):
            found.append((hands, seat))
    return found


def values_of_moves(hands: list[int], seat: int) -> dict[int, float]:
    """By the solver, for the side to move: the value after each move, by its cards."""
    from fogplay.games.doudizhu_moves import legal_moves

    scratch, sign = endgame.search(False), 1 if seat == 0 else -1
    return {
        int(cards): sign * endgame.value_of_move(np.array(hands, np.uint64), seat, 0, 0, head, cards, scratch)
        for head, cards in zip(*legal_moves(hands[seat], 0), strict=True)
    }


def searched(hands: list[int], seat: int, playouts: int, evaluate: Evaluate, points: float = 0.0) -> fpmcts.Searches:
    """A search where the only world is the real one."""
    settings = DeltaSettings()
    own = fpmcts.searches(1, playouts, 4, 256, 64)
    own.words[0, HANDS : HANDS + 3] = hands
    own.facts[0, SEAT], own.facts[0, TO_BEAT], own.facts[0, PASSES] = seat, 0, 0
    own.worlds[0], own.wanted[0], own.rng[0] = hands, playouts, (1, 2)
    seen, legal = np.zeros((1, SEEN), np.int64), np.zeros(HEAD_WORDS, np.int64)
    look(own.words[0], own.facts[0], seat, seen[0], legal)
    weights = settings.weights._replace(points=points)
    expansion.plant(own, 0, evaluate(seat, seen)[0], legal, weights)
    fpmcts.search(own, 1, Asking(evaluate), settings.rule._replace(exploration=6.0, reduction=0.0), weights)
    return own


def test_open_endgames_are_won_as_the_solver_wins_them() -> None:
    """Against others who move at random in the search, only a move that wins for sure keeps its value."""
    good = 0
    for hands, seat in endings(30, 9):
        own = searched(hands, seat, 2000, uniform_evaluator)
        cards = int(own.cards[0, 0, best_action(own.trees, 0)])
        good += values_of_moves(hands, seat)[cards] > 0
        assert own.trees.tried[0, 0].sum() == 2000
        assert not own.trees.flying[0].any()
    assert good >= 29


def test_the_search_counts_wins_and_points() -> None:
    """The landlord's rocket wins: 2 points for 1 won game, so 4/3 in the search's own unit, and a win rate of 1."""
    own = searched([pack([13, 14]), pack([0, 0]), pack([1, 2])], 0, 20, uniform_evaluator, 0.5)
    assert own.trees.num_actions[0, 0] == 1  # nothing else is looked at
    assert own.trees.total[0, 0, 0] == pytest.approx(20 * 4 / 3)
    assert own.trees.wins[0, 0, 0] == 20


def test_positions_do_not_depend_on_those_beside_them() -> None:
    own = hidden(played_on(8, 12, 30, by_rules()))
    settings = DeltaSettings(playouts=40, parallel=4)
    together = Mind(by_rules(), settings).think(own, many_streams(3, len(own.words)))
    assert len(together.searched) >= 4
    alone = Mind(by_rules(), settings)
    for root, stream in enumerate(many_streams(3, len(own.words))):
        decided = alone.think(Situations(*(field[root : root + 1] for field in own)), stream[None])
        assert decided.cards[0] == together.cards[root]
        if root in together.searched:
            place = int(np.flatnonzero(together.searched == root)[0])
            count = decided.searches.trees.num_actions[0, 0]
            both = ((decided.searches, 0), (together.searches, place))
            tried = [own.trees.tried[at, 0, :count].tolist() for own, at in both]
            assert tried[0] == tried[1]


def test_hidden_cards_do_not_matter() -> None:
    """The same position with other hands for the others: the same move, after the same search."""
    evaluate = by_networks(tiny_networks(3, 1.0))
    own = played_on(11, 8, 24, evaluate)
    rng = many_streams(4, len(own.words))
    asking = Asking(evaluate)
    outputs, _ = look_around(hidden(own), asking, rng)
    worlds = inference.infer(hidden(own), outputs, asking, DeltaSettings().thinking._replace(below=0, different=1), rng)
    other = own._replace(words=own.words.copy())
    other.words[:, HANDS : HANDS + 3] = worlds.hands[:, 0]
    assert (other.words != own.words).any(1).sum() >= 6
    mind = Mind(evaluate, DeltaSettings(playouts=30))
    first, second = (mind.think(hidden(each), many_streams(6, len(own.words))).cards.tolist() for each in (own, other))
    assert first == second


def test_without_playouts_the_networks_best_move_is_made() -> None:
    evaluate = by_networks(tiny_networks(7, 0.5))
    own = hidden(played_on(5, 20, 30, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, legal = look_around(own, Asking(evaluate), rng)
    decided, wins = Mind(evaluate, DeltaSettings(playouts=0)).think(own, rng), 0
    for root, seat in enumerate(own.facts[:, SEAT]):
        hand = own.words[root, HANDS + seat]
        head, kickers, _ = draw_move(outputs[root], legal[root], hand, 0.0, ways_buffer(), rng[root])
        wins += decided.cards[root] == hand != cards_of_move(head, kickers)
        assert decided.cards[root] in (cards_of_move(head, kickers), hand)
    assert wins < len(own.words) / 2
    assert len(decided.searched) == 0


def test_a_deadline_ends_a_search() -> None:
    view = Table(Doudizhu(), Seeded(2)).view(0)
    agent = DeltaDou(DeltaSettings(playouts=100_000), by_rules())
    agent.act(view_with(view, 0.0))  # compiles
    began = time.monotonic()
    late = view_with(view, began + 0.3)
    assert agent.act(late) in late.legal
    assert time.monotonic() - began < 20.0  # 100,000 playouts take minutes


def view_with(view: Any, deadline: float) -> Any:
    view.deadline = deadline
    return view


# ---- At the table


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, network in zip(evaluators.SEATS, tiny_networks(), strict=True):
        network.save(tmp_path / f"{name}.safetensors")
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("playouts", [0, 5])
def test_compiling_ahead_is_told_and_changes_no_move(playouts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "is_compiled", lambda *_: False)
    ready, other = (DeltaDou(DeltaSettings(playouts=playouts), by_rules()) for _ in range(2))
    told: list[Any] = []
    ready.prepare(lambda *step: told.append(step))
    assert told == [(player.COMPILING, 0, 1), (player.COMPILING, 1, 1)]
    view = Table(Doudizhu(), Seeded(2)).view(0)
    assert ready.act(view) == other.act(view)
    monkeypatch.setattr(player, "is_compiled", lambda *_: True)
    ready.prepare(lambda *_: pytest.fail("nothing takes long"))


def test_bots_are_found_with_their_playouts(folder: Path) -> None:
    one, two, policy = resolve(["deltadou", "deltadou:7", "deltadou-policy"], Doudizhu())
    assert (one.mind.settings.playouts, two.mind.settings.playouts, policy.mind.settings.playouts) == (200, 7, 0)
    assert len(set(names_of(["deltadou:7", "deltadou:8"]))) == 2
    with pytest.raises(FogplayError, match="deltadou:many: write a number of playouts, such as deltadou:600"):
        resolve(["deltadou:many"], Doudizhu())
    with pytest.raises(FogplayError, match="the number of playouts must be from 1 to 100,000"):
        resolve(["deltadou:0"], Doudizhu())


def test_damaged_and_foreign_networks_are_refused(folder: Path) -> None:
    whole = (folder / "after.safetensors").read_bytes()
    (folder / "after.safetensors").write_bytes(whole[:-100])
    with pytest.raises(FogplayError, match=r"after\.safetensors") as refused:
        DeltaDou()
    assert "\n" not in str(refused.value)
    shape = DenseShape(3, 5, 4, 1)
    Network(shape, {name: np.zeros(size) for name, size in shape.arrays().items()}, {}).save(
        folder / "after.safetensors"
    )
    with pytest.raises(FogplayError, match="network of the after has 3 words and 5 outputs; Doudizhu needs 32 and 476"):
        DeltaDou()


def test_without_networks_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path / "none")
    with pytest.raises(FogplayError, match=r"which this installation lacks: there is no folder .*none"):
        resolve(["deltadou"], Doudizhu())
    monkeypatch.setattr(evaluators, "FOLDER", tmp_path)
    with pytest.raises(FogplayError, match=r"landlord\.safetensors"):
        resolve(["deltadou"], Doudizhu())


def test_advice_says_what_the_others_may_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--hand", "33445566778899TTJJQK", "--shown", "3JK", "--history", "", "--agent", "deltadou:20"]
    app(["advise", "doudizhu", *words], standalone_mode=False)
    told = capsys.readouterr().out
    assert "It expects the peasant after the landlord to hold 17 cards:" in told.replace("\n", " ")
    assert "the peasant before the landlord" in told.replace("\n", " ")


@pytest.mark.parametrize("kind", [arena.RHCP, arena.RULES])
def test_a_search_can_know_what_a_bot_would_do(kind: int) -> None:
    def nobody(_seat: int, _seen: NDArray[np.int64]) -> NDArray[np.float32]:
        raise AssertionError("this seat is not the bot's")

    lanes, bot, asked = 20, arena.bot(kind), evaluators.knowing(nobody, evaluators.by_bot(kind), (0, 1, 2))
    words, facts = np.zeros((lanes, WORDS), np.uint64), np.zeros((lanes, FACTS), np.int32)
    rng, ways, same = np.array([1, 2], np.uint64), ways_buffer(), []
    lockstep.deal_lanes(4, 0, words, facts, rng.copy())
    while len(going := np.flatnonzero(facts[:, OVER] == 0)):
        seen, legal = np.zeros((len(going), SEEN), np.int64), np.zeros((len(going), HEAD_WORDS), np.int64)
        lockstep.look_from(going, words, facts, seen, legal)
        outputs, seat = asked(int(facts[going[0], SEAT]), seen), int(facts[going[0], SEAT])
        guessed = []
        for place, lane in enumerate(going):
            head, kickers, _ = draw_move(outputs[place], legal[place], words[lane, HANDS + seat], 0.0, ways, rng)
            guessed.append((head, int(cards_of_move(head, kickers))))
        lockstep.ask_bot(going, words, facts, bot, rng)
        for (head, cards), lane in zip(guessed, going, strict=True):
            assert head == head_of(words[lane, LAST])
            same.append(cards == int(words[lane, LAST]))
    assert np.mean(same) > 0.97, "nearly always with the same kickers"


@pytest.mark.parametrize("number", ["playouts=-1", "parallel=0", "actions=1"])
def test_impossible_settings_are_refused(number: str) -> None:
    name, _, value = number.partition("=")
    with pytest.raises(FogplayError, match=f"deltadou: {name} must be from"):
        DeltaDou(DeltaSettings()._replace(**{name: int(value)}), by_rules())
