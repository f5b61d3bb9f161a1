"""Pictures of cards: a whole deck in one small file, with its licence, and named only for cards that a seat may see."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from fogplay.pictures import draw_sight, scene_for, sight_of
from fogplay.pictures.cards import FACES, RANKS, SUIT_NAMES, Card, draw_card
from tests.pictures.test_pictures import GAMES, moments

MOST_BYTES = 300_000
NAMED = re.compile(r'href="#face-([^"]+)"')
DECK = {rank + suit for rank in RANKS for suit in SUIT_NAMES} | {"joker-black", "joker-red", "back"}


def test_the_sheet_has_the_whole_deck_and_needs_nothing_else() -> None:
    text = FACES.read_text()
    assert len(text) < MOST_BYTES
    root = ElementTree.fromstring(text)
    names = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
    assert len(names) == len(set(names))
    assert {name.removeprefix("face-") for name in names if name.startswith("face-")} == DECK
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)) <= {(name, "") for name in names} | {
        ("", name) for name in names
    }
    assert text.count("http") == 1  # the namespace
    assert "<script" not in text


def test_every_card_has_ink_of_its_own() -> None:
    """A card that was lost on the way would be an empty one, or the same as another."""
    root = ElementTree.fromstring(FACES.read_text())
    cards = [ElementTree.tostring(each) for each in root if each.get("id", "").startswith("face-")]
    courts = [each for each in root if re.fullmatch("face-[JQK].", each.get("id", ""))]
    inside = {card.split(b">", 1)[1] for card in cards}
    assert len(inside) == len(cards) == 55
    assert all(len(list(court.iter("{http://www.w3.org/2000/svg}path"))) >= 6 for court in courts)


def test_the_licence_is_beside_the_sheet() -> None:
    text = (FACES.parent / "LICENSE.txt").read_text()
    assert "Adrian Kennard" in text
    assert "CC0 1.0 Universal" in text
    assert "Affirmer hereby overtly, fully" in text  # all of it


@pytest.mark.parametrize("spec", GAMES)
def test_pictures_are_named_on_demand_and_are_there(spec: str) -> None:
    for table in moments(spec, 6):
        sight = sight_of(table, 0)
        assert "href" not in draw_sight(sight)
        assert set(NAMED.findall(draw_sight(sight, faces=True))) <= DECK


def test_cards_have_the_picture_of_their_rank_and_suit() -> None:
    assert Card("K", "h").face == "Kh"
    assert Card().face == "back"
    assert Card("7").face == ""  # a number in a game without suits
    assert Card("5", die=True).face == ""
    assert 'class="pictured suit-h" href="#face-Kh"' in draw_card(Card("K", "h"), 0, 0, faces=True)
    assert "pictured" not in draw_card(Card("7"), 0, 0, faces=True)


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_doudizhus_cards_keep_their_suits_and_none_is_there_twice(seat: int, seed: int) -> None:
    before: set[str] = set()
    for table in moments("doudizhu", seed):
        scene = scene_for(sight_of(table, seat))
        own = {card.face for card in scene.places[seat].cards}
        front = [card.face for place in scene.places for card in place.played]
        held = [card.face for place in scene.places for card in place.cards]
        assert len(held + front) == len(set(held + front))
        assert not before or own <= before
        assert len(own) == len(scene.places[seat].cards)
        before = own
