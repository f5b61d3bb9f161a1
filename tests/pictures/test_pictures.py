"""Pictures: well-formed, escaped, complete for the seat that looks on, and silent about everything else."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.pictures import (
    Card,
    Place,
    Scene,
    draw_bars,
    draw_scene,
    draw_sight,
    register_picture,
    scene_for,
    sight_of,
)
from fogplay.pictures.charts import draw_lines
from fogplay.pictures.grid import Cell, draw_grid
from fogplay.pictures.scene import Drawing
from fogplay.pictures.svg import escape, wrapped
from fogplay.pictures.trees import draw_tree
from fogplay.play import Table
from fogplay.play.luck import Seeded

GAMES = (
    "kuhn", "kuhn(players=3)", "ocp", "leduc", "leduc(players=3)", "holdem", "holdem(players=3)", "doudizhu",
    "doudizhu(bidding=True)", "goofspiel", "goofspiel(cards=4,bids=revealed)", "bluff", "pam", "rps", "repeated",
    "kuhn.kif", "tictactoe.kif",
)  # fmt: skip
HOSTILE = "<script>alert('&')</script>\"\x00"


def moments(spec: str, seed: int, names: list[str] | None = None) -> Iterator[Table]:
    """A table before every decision of a random hand, and at its end."""
    game = load(spec)
    table, rng = Table(game, Seeded(seed), names), random.Random(seed)
    while not table.is_over:
        yield table
        seat = table.to_act[0]
        table.take(seat, rng.choice(table.view(seat).legal))
    yield table


@pytest.mark.parametrize("spec", GAMES)
def test_every_moment_of_a_hand_is_drawn_for_every_seat_with_names_escaped(spec: str) -> None:
    names = [f"{HOSTILE}{seat}" for seat in range(int(load(spec).num_players()))]
    for number, table in enumerate(moments(spec, 3, names)):
        for seat in range(table.num_players):
            drawn = draw_sight(sight_of(table, seat))
            assert "<script" not in drawn
            if number % 5 == 0 or table.is_over:
                root = ElementTree.fromstring(drawn)
                assert root.attrib["aria-label"]


@pytest.mark.parametrize("spec", ["kuhn", "leduc", "holdem", "holdem(players=3)", "doudizhu", "bluff"])
def test_what_is_hidden_changes_no_byte_of_a_picture(spec: str) -> None:
    """Replace what a seat does not see, wherever the game can, and compare the pictures."""
    import numpy as np

    rng, compared = np.random.default_rng(5), 0
    for table in moments(spec, 4):
        if table.is_over:
            continue
        seat = table.to_act[0]
        world = table.view(seat).world(rng)
        before = draw_sight(sight_of(table, seat), faces=True)
        other = Table(load(spec), Seeded(4), events=table.events)
        other._state = world
        assert draw_sight(sight_of(other, seat), faces=True) == before
        compared += 1
    assert compared


def test_cards_of_others_are_face_down_until_they_are_shown() -> None:
    for table in moments("leduc", 11):
        scene = scene_for(sight_of(table, 0))
        if not table.is_over:
            named = table.game.card_to_string(table.events[0].action)
            assert scene.places[0].cards[0] == Card(named[0], named[1])
            assert scene.places[1].cards == (Card(),)
    assert sum(table.scores) == 0


def test_kuhns_deeds_are_called_as_its_moves_are() -> None:
    """A pass is a check before a bet and a fold after it; a bet after a bet is a call."""
    table, notes = Table(load("kuhn(players=3)"), Seeded(1), ["you", "a", "b"]), []
    for action in (0, 1, 0, 1):
        notes.append([place.note for place in scene_for(sight_of(table, 0)).places])
        table.take(table.to_act[0], action)
    assert notes == [["", "", ""], ["checked", "", ""], ["checked", "bet", ""], ["checked", "bet", "folded"]]
    assert [place.note.split()[0] for place in scene_for(sight_of(table, 0)).places] == ["lost", "won", "lost"]


@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "ocp", "leduc", "leduc(players=3)", "holdem"])
def test_what_happened_names_the_own_cards_alone_as_yours(spec: str) -> None:
    """At the end too, when the others' cards are known."""
    for seed in range(4):
        *_, table = moments(spec, seed)
        for seat in range(table.num_players):
            lines = [line for line in sight_of(table, seat).lines if line.startswith("Your card")]
            assert len(lines) == 1


def test_a_showdown_turns_the_cards_over() -> None:
    table = Table(load("holdem"), Seeded(1), ["you", "bot"])
    while not table.is_over:
        table.take(table.to_act[0], 1)  # check or call to the end
    scene = scene_for(sight_of(table, 0))
    assert len(scene.middle) == 5
    assert all(card.rank and card.suit for place in scene.places for card in place.cards)
    two, four = draw_scene(scene), draw_scene(scene, four=True)
    assert two != four
    assert "of " in scene.words  # a screen reader hears the cards


def test_doudizhu_shows_twenty_cards_to_the_landlord_and_counts_those_of_others() -> None:
    table = next(moments("doudizhu", 2))
    scene = scene_for(sight_of(table, 0))
    assert len(scene.places[0].cards) == 20
    assert scene.places[1].cards == ()
    assert scene.places[1].note == "17 cards"


class Own(fp.Game):
    """A coin that player 0 calls."""

    name = "own"

    def num_players(self) -> int:
        return 1

    def new_initial_state(self) -> OwnState:
        return OwnState(())


class OwnState(fp.State):
    def __init__(self, moves: tuple[int, ...]) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return fp.TERMINAL if self.moves else 0

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def child(self, action: int) -> OwnState:
        return OwnState((action,))

    def information_state_string(self, player: int) -> str:
        return "heads or <tails>"

    def returns(self) -> list[float]:
        return [1.0]


def test_a_game_of_your_own_has_a_picture_and_may_register_a_better_one() -> None:
    sight = sight_of(Table(Own(), Seeded(0), ["you"]), 0)
    assert "heads or &lt;tails&gt;" in draw_sight(sight)
    drawing = Drawing("<circle cx='5' cy='5' r='4'/>", 10, 10, "a coin")
    register_picture(Own, lambda seen: Scene((Place("you"),), 0, drawing=drawing))
    assert "<circle" in draw_sight(sight)
    assert "a coin" in draw_sight(sight)
    with pytest.raises(FogplayError, match="takes a game's class"):
        register_picture("own", lambda seen: None)  # type: ignore[arg-type]


def test_text_is_escaped_and_wrapped() -> None:
    assert escape('<a b="c">\x07') == "&lt;a b=&quot;c&quot;&gt;"
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("x" * 15, 7) == ["x" * 7, "x" * 7, "x"]


def test_a_strategy_is_plotted_and_saved(tmp_path: object) -> None:
    strategy = fp.solve("kuhn", iterations=50).strategy
    picture = strategy.plot()
    for infoset in strategy:
        assert infoset in picture.svg
    assert strategy._repr_html_() == picture.svg == picture._repr_html_()
    assert strategy.plot(["K:"]).svg.count('text-anchor="end"') == 1
    picture.save(f"{tmp_path}/kuhn.svg")
    ElementTree.parse(f"{tmp_path}/kuhn.svg")


def test_bars_are_as_wide_as_the_probabilities() -> None:
    root = ElementTree.fromstring(draw_bars({"here": {"fold": 0.25, "call": 0.75}}))
    widths = [float(each.attrib["width"]) for each in root.iter("{http://www.w3.org/2000/svg}rect")][:2]
    assert widths[1] / widths[0] == pytest.approx(3, rel=1e-3)
    with pytest.raises(FogplayError, match="no infosets"):
        draw_bars({})


def test_a_grid_says_what_is_impossible() -> None:
    drawn = draw_grid([[Cell("AA", {"raise": 1.0}), Cell("72o", {})]], "all")
    ElementTree.fromstring(drawn)
    assert "72o: impossible" in drawn
    assert "AA: 100 % raise" in drawn


def test_a_small_tree_is_drawn_with_probabilities_and_a_large_one_refused() -> None:
    strategy = fp.solve("kuhn", iterations=50).strategy
    drawn = draw_tree(load("kuhn"), lambda infoset, player: strategy[infoset])
    root = ElementTree.fromstring(drawn)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 57  # 58 nodes
    with pytest.raises(FogplayError, match="too many for a picture"):
        draw_tree(load("leduc"))


def test_lines_need_a_measurement() -> None:
    assert "No measurement yet" in draw_lines({"cfr": []}, "iterations", "nash_conv")
    drawn = draw_lines({"cfr": [(1, 1.0), (10, 0.1)], "uct": [(1, 2.0)]}, "iterations", "nash_conv")
    found = ElementTree.fromstring(drawn)
    assert len(list(found.iter("{http://www.w3.org/2000/svg}polyline"))) == 1
    assert len(list(found.iter("{http://www.w3.org/2000/svg}circle"))) == 1  # a single point
    scores = draw_lines({"es-mccfr": [(1, -300.0), (100, 20.0)]}, "iterations", "mb/h", plain=True)
    assert all(f">{mark}</text>" in scores for mark in (-300, -200, -100, 0, 100))
