"""Not a byte of what is sent before the showdown depends on what is hidden."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("nicegui")
pytest.importorskip("aiohttp")

from fogplay.games.registry import load
from fogplay.rooms import Settings, Store
from tests.web.browser import Server
from tests.web.taps import Tap, exchanged, place_of

SOME = ("leduc", "kuhn", "goofspiel")
ROOMS = (*("leduc",) * 8, *("kuhn",) * 4, *("kuhn(players=3)",) * 2, *("holdem",) * 3, *("goofspiel",) * 3)


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("hidden"))
    yield made
    made.stop()


def tapped(server: Server, games: Sequence[str], hands: int) -> list[Tap]:
    """Rooms in which so many hands were played, every byte of them looked at."""
    store = Store(server.folder / "rooms.sqlite")
    taps = [Tap(server, store, Settings(game, "best"), number) for number, game in enumerate(games)]

    async def go() -> None:
        await asyncio.gather(*(tap.play(hands) for tap in taps))

    asyncio.run(go())
    store.close()
    return taps


def require(taps: Sequence[Tap], hands: int) -> None:
    """All hands were played, and nearly all pages were compared with other cards; what is around pages is the same."""
    assert all(tap.over == hands for tap in taps)
    assert all(tap.checked >= hands / 2 for tap in taps)
    assert all(tap.changed > 0.5 * tap.checked for tap in taps)
    assert len({str(tap.frames) for tap in taps}) == 1


def test_no_byte_on_the_socket_depends_on_what_is_hidden(server: Server) -> None:
    require(tapped(server, SOME, 8), 8)


@pytest.mark.slow
def test_no_byte_on_the_socket_depends_on_what_is_hidden_in_ten_thousand_hands(server: Server) -> None:
    taps = tapped(server, ROOMS, 500)
    require(taps, 500)
    pages, others = sum(tap.checked for tap in taps), sum(tap.changed for tap in taps)
    print(f"{sum(tap.bytes for tap in taps):,} bytes, {pages:,} pages before the showdown, {others:,} with other cards")
    assert sum(tap.over for tap in taps) == 10_000


@pytest.mark.parametrize(("game", "leak"), [("leduc", "card"), ("leduc", "share"), ("kuhn", "seed")])
def test_a_leak_would_be_found(server: Server, monkeypatch: pytest.MonkeyPatch, game: str, leak: str) -> None:
    """The same comparison fails if a page tells a hidden card, a probability or the seed."""
    check = Tap._check

    def leaking(self: Any, page: str) -> None:
        hand, decision = place_of(page)
        seat, events = self._events(hand, decision or 0)
        told = {"card": f'data-x="{events[1 - seat][1]}"', "share": 'data-x="0.25"', "seed": self.kept.seed}[leak]
        changed = page.replace('<div class="moves"', f'<div {told} class="moves"')
        self._require_no_secret(changed)
        check(self, changed)

    monkeypatch.setattr(Tap, "_check", leaking)
    with pytest.raises(AssertionError):
        tapped(server, [game], 8)


def test_other_cards_look_the_same_to_the_seat() -> None:
    rules = load("leduc")
    found = {tuple(exchanged(rules, [[-1, 0], [-1, 3]], 0, random.Random(seed))[1]) for seed in range(40)}
    assert found == {(-1, card) for card in (1, 2, 4, 5)}
