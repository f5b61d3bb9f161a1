"""axe-core on every page, light and dark, wide and narrow: no serious violation."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import Server, all_of, chromium, needs_browser, press, status, wait_for
from tests.web.test_browser import click_through, new_room

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
    assert FOUND is not None and FOUND.origin is not None
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


def pages(server: Server, driver: Any, games: tuple[str, ...]) -> Iterator[str]:
    """Open every page, one after the other, and tell its name."""
    driver.get(server.url)
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    yield "lobby"
    for game in games:
        driver.get(room := new_room(server, game, seat=0))
        wait_for(driver, lambda _: all_of(driver, "button[data-do=act]"))
        yield f"{game}, at a decision"
        click_through(driver, random.Random(3))
        wait_for(driver, lambda _: all_of(driver, "section[aria-label^='Review'] p:not(.soft)"))
        yield f"{game}, at the end"
        press(driver, "button[data-do=next]")
        wait_for(driver, lambda _: "Hand 2" in status(driver))
    driver.get(f"{room}/hands?show=0")
    wait_for(driver, lambda _: all_of(driver, "section[aria-label=Hands] tr"))
    yield "hands"
    driver.get(f"{room}/drill")
    wait_for(driver, lambda _: all_of(driver, "nav"))
    yield "drill"
    driver.get(f"{server.url}/explore")
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    press(driver, ".q-btn")
    wait_for(driver, lambda _: all_of(driver, "svg.fp"))
    yield "explore"
    driver.get(f"{server.url}/train")
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    yield "train"
    driver.get(f"{server.url}/room/none")
    wait_for(driver, lambda _: "no such room" in driver.page_source)
    yield "no room"


@pytest.mark.parametrize(("width", "dark"), [(360, True), pytest.param(1440, False, marks=pytest.mark.slow)])
def test_no_page_has_a_serious_violation(server: Server, width: int, dark: bool) -> None:
    with chromium(width, 900, dark=dark) as driver:
        found = {name: violations(driver) for name in pages(server, driver, ("leduc",))}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
