"""Screenshots of the table for docs/pictures: phone and laptop, light and dark.

``python benchmarks/screenshots.py docs/pictures`` writes them all; ``--only chart`` those whose name contains a word.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.webdriver.common.keys import Keys

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.web.browser import Server, all_of, chromium, is_over, press, wait_for
from tests.web.test_browser import choose, click_through, moves_of, new_room, show

SUITED = "one that suits the game"
FACES = "return document.documentElement.classList.contains('faces')"  # pictures of cards are shown
PHONE, LAPTOP, TALL = (360, 740), (1440, 900), (1440, 1290)


def over(game: str, seed: int) -> Callable[[Server, Any], None]:
    """A hand at its end, with its review."""

    def go(server: Server, driver: Any) -> None:
        driver.get(new_room(server, game, seat=0))
        wait_for(driver, lambda _: all_of(driver, ".board svg"))
        click_through(driver, random.Random(seed))
        wait_for(driver, lambda _: all_of(driver, "section[aria-label^='Review'] p:not(.soft)"))

    return go


def called(server: Server, driver: Any) -> None:
    """A hand of hold'em that is called down."""
    driver.get(new_room(server, "holdem", "sparring", seat=0))
    while not is_over(driver):
        wait_for(driver, lambda _: is_over(driver) or all_of(driver, "button[data-key^=c]"))
        before = moves_of(driver)
        if not is_over(driver):
            press(driver, "button[data-key^=c]")
            wait_for(driver, lambda _, b=before: moves_of(driver) != b)
    wait_for(driver, lambda _: all_of(driver, "section[aria-label^='Review'] p:not(.soft)"))


def decision(game: str, moves: int) -> Callable[[Server, Any], None]:
    """A decision after a few moves."""

    def go(server: Server, driver: Any) -> None:
        driver.get(new_room(server, game, seat=0))
        for place in range(moves):
            wait_for(driver, lambda _, p=place: all_of(driver, f"button[data-decision='{p}']"))
            press(driver, "button[data-do=act]", 2 * place + 1)
        wait_for(driver, lambda _: all_of(driver, f"button[data-decision='{moves}']"))

    return go


def chart(server: Server, driver: Any) -> None:
    driver.get(f"{server.url}/explore")
    show(driver, "holdem")
    cell = wait_for(driver, lambda _: all_of(driver, "svg g[tabindex]"))[29]
    driver.execute_script("arguments[0].focus(); window.scrollTo(0, 0)", cell)


def compared(server: Server, driver: Any) -> None:
    """Two strategies beside each other."""
    driver.get(f"{server.url}/explore")
    choose(driver, 0, "smooth-uct of holdem")
    choose(driver, 1, "smooth-uct-average of holdem")
    press(driver, ".q-btn")
    wait_for(driver, lambda _: len(all_of(driver, ".pair svg")) == 2)
    driver.execute_script(
        "document.querySelector('.page h2').scrollIntoView({block: 'start'}); window.scrollBy(0, -12)"
    )


def train(server: Server, driver: Any) -> None:
    """Two runs of a game on one chart, and one of a game that is scored against a bot."""
    driver.get(f"{server.url}/train")
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    wanted = (("leduc", "cfr", "cfr", 3000), ("leduc", "cfr+", "cfr+", 3000), ("holdem", SUITED, "es-mccfr", 400_000))
    for game, chosen, algorithm, iterations in wanted:
        choose(driver, 0, game)
        choose(driver, 1, chosen)
        field = all_of(driver, "input[type=number]")[0]
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(str(iterations))
        press(driver, ".q-btn")
        done = f"by {algorithm}: finished: iteration {iterations:,} of {iterations:,}"
        wait_for(driver, lambda _, d=done: any(d in each.text for each in all_of(driver, ".run")))
    driver.execute_script("document.querySelector('.pair').scrollIntoView({block: 'start'})")


def lobby(server: Server, driver: Any) -> None:
    driver.get(server.url)
    wait_for(driver, lambda _: all_of(driver, ".q-btn"))
    choose(driver, 0, "holdem")
    choose(driver, 1, "sparring")
    driver.execute_script("document.activeElement.blur()")
    time.sleep(1)  # lines under fields fade away


PICTURES = {
    "table-holdem": (LAPTOP, True, called),
    "table-review": (LAPTOP, False, over("leduc", 1)),
    "table-chart": (LAPTOP, False, chart),
    "table-chart-phone": (PHONE, True, chart),
    "table-compare": (TALL, True, compared),
    "table-train": (LAPTOP, True, train),
    "table-lobby-phone": (PHONE, False, lobby),
    "table-phone": (PHONE, True, decision("doudizhu", 1)),
    "table-sheet-phone": (PHONE, False, decision("tictactoe.kif", 2)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            for name, (size, dark, go) in PICTURES.items():
                if asked.only in name:
                    with chromium(*size, dark=dark) as driver:
                        go(server, driver)
                        if size[0] > PHONE[0] and all_of(driver, ".pictured"):
                            wait_for(driver, lambda _, d=driver: d.execute_script(FACES))
                        driver.save_screenshot(str(asked.folder / f"{name}.png"))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
