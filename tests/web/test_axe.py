"""axe-core on every page, light and dark, wide and narrow: no serious violation."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import Server, all_of, chromium, is_over, needs_browser, wait_for
from tests.web.test_browser import click_through, new_room, show

FOUND = importlib.util.find_spec("axe_core_python")
pytestmark = [needs_browser, pytest.mark.skipif(FOUND is None, reason="needs axe-core: pip install axe-core-python")]
WRONG = ("serious", "critical")


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("axe"))
    yield made
    made.stop()


def violations(driver: Any) -> list[str]:
    """What axe finds to be serious on the page that is open."""
    assert FOUND is not None
    assert FOUND.origin is not None
    driver.execute_script((Path(FOUND.origin).parent / "axe.min.js").read_text())
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done)"
    )
    assert len(found["passes"]) > 5  # it has looked at something
    return [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found["violations"]
        if each["impact"] in WRONG
        for node in each["nodes"]
    ]


def room_pages(server: Server, driver: Any, game: str) -> Iterator[str]:
    """The pages of a room, one after the other."""
    driver.get(room := new_room(server, game, seat=0))
    wait_for(driver, lambda _: is_over(driver) or all_of(driver, "button[data-do=act]"))  # the other may fold first
    yield f"{game}, at a decision"
    click_through(driver, random.Random(3))
    wait_for(driver, lambda _: all_of(driver, "section[aria-label^='Review'] p"))
    yield f"{game}, at the end"
    driver.get(f"{room}/hands?show=0")
    wait_for(driver, lambda _: all_of(driver, "section[aria-label=Hands] tr"))
    yield f"{game}, hands"
    driver.get(f"{room}/drill")
    wait_for(driver, lambda _: all_of(driver, "nav") and "Opening" not in driver.page_source)
    yield f"{game}, drill"


def form_pages(server: Server, driver: Any, game: str) -> Iterator[str]:
    """The pages with fields, and what they show of a game."""
    driver.get(server.url)
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    yield "lobby"
    driver.get(f"{server.url}/explore")
    show(driver, game)
    yield f"explore {game}"


def test_no_serious_violation(server: Server) -> None:
    with chromium(360, 900, dark=True) as driver:
        found = {name: violations(driver) for name in form_pages(server, driver, "kuhn")}
        driver.get(new_room(server, "leduc", seat=0))
        wait_for(driver, lambda _: all_of(driver, "button[data-do=act]"))
        found["leduc"] = violations(driver)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_no_page_has_a_serious_violation(server: Server, width: int, dark: bool) -> None:
    with chromium(width, 900, dark=dark) as driver:
        found = {name: violations(driver) for name in form_pages(server, driver, "holdem")}
        for game in ("leduc", "holdem", "tictactoe.kif", "goofspiel", "pam", "rps"):
            found |= {name: violations(driver) for name in room_pages(server, driver, game)}
        for path, says in (("train", "Start"), ("room/none", "no such room")):
            driver.get(f"{server.url}/{path}")
            wait_for(driver, lambda _, says=says: says in driver.page_source)
            found[path] = violations(driver)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
