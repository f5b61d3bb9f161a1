"""The table in a real browser: hands of every game clicked through, a reload, two browsers, keys, training."""

from __future__ import annotations

import json
import random
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fogplay.rooms import Settings, Store
from fogplay.rooms.store import AT_ONCE
from tests.web.browser import Server, all_of, chromium, is_over, needs_browser, press, status, wait_for

pytestmark = needs_browser
OWN = "claim.py"  # a game of the user's own, as the docs write it
QUICK = (OWN, "kuhn", "leduc", "ocp", "goofspiel", "pam", "rps", "repeated", "kuhn.kif", "kuhn(players=3)")
THINKING = ("bluff", "holdem", "holdem(players=3)", "doudizhu", "tictactoe.kif")  # these take longer to begin


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("serve")
    page = (Path(__file__).parents[2] / "docs" / "write-your-own-game.md").read_text()
    (folder / OWN).write_text(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)[0])
    made = Server(folder, "--game", "kuhn.kif", "--game", OWN)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def new_room(server: Server, game: str, opponent: str = "best", seat: int | None = None, pace: str = AT_ONCE) -> str:
    """A room made beside the server, through the same file; its address."""
    store = Store(server.folder / "rooms.sqlite")
    kept = store.create(Settings(game, opponent, seat, pace=pace))
    store.close()
    return f"{server.url}/room/{kept.secret}"


def moves_of(driver: Any) -> str:
    return str(driver.execute_script("return document.querySelector('.moves').innerHTML"))


def click_through(driver: Any, rng: random.Random) -> int:
    """Click random moves until the hand is over; how many."""
    for clicks in range(200):
        wait_for(driver, lambda _: is_over(driver) or all_of(driver, "button[data-do=act]"))
        if is_over(driver):
            return clicks
        before = moves_of(driver)
        press(driver, "button[data-do=act]", rng.randrange(len(all_of(driver, "button[data-do=act]"))))
        wait_for(driver, lambda _, b=before: moves_of(driver) != b)  # bots may compile their kernels first
    raise AssertionError("the hand does not end")


@pytest.mark.parametrize("game", [*QUICK, *(pytest.param(game, marks=pytest.mark.slow) for game in THINKING)])
def test_a_hand_of_every_game_is_clicked_through(server: Server, browser: Any, game: str) -> None:
    browser.get(new_room(server, game))
    wait_for(browser, lambda _: all_of(browser, ".board svg"), 240)
    for hand in range(2):
        click_through(browser, random.Random(hand))
        assert f"Hand {hand + 1} is over" in status(browser)
        wait_for(browser, lambda _: all_of(browser, "section[aria-label^='Review'] p"))
        press(browser, "button[data-do=next]")
        wait_for(browser, lambda _, h=hand: f"Hand {h + 2}" in status(browser))
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_from_the_first_page_to_a_finished_hand_by_keyboard_only(server: Server, browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.get(server.url)
    wait_for(browser, lambda _: all_of(browser, ".q-btn"))
    for _ in range(30):  # as far as the button
        ActionChains(browser).send_keys(Keys.TAB).perform()
        if "Sit down" in browser.switch_to.active_element.text:
            break
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    wait_for(browser, lambda _: "/room/" in browser.current_url and all_of(browser, ".board svg"))
    while not is_over(browser):
        before = status(browser) + str(len(all_of(browser, ".log li")))
        ActionChains(browser).send_keys("1").perform()
        wait_for(browser, lambda _, b=before: status(browser) + str(len(all_of(browser, ".log li"))) != b)
    ActionChains(browser).send_keys("n").perform()
    wait_for(browser, lambda _: "Hand 2" in status(browser))


def test_a_reload_and_a_killed_server_come_back_to_the_same_decision(tmp_path: Path, browser: Any) -> None:
    server = Server(tmp_path)
    try:
        browser.get(new_room(server, "leduc", seat=0))
        wait_for(browser, lambda _: all_of(browser, "button[data-do=act]"))
        press(browser, "button[data-do=act]")
        wait_for(browser, lambda _: is_over(browser) or all_of(browser, "button[data-decision='1']"))
        before, moves = status(browser), moves_of(browser)
        browser.refresh()
        wait_for(browser, lambda _: status(browser) == before)
        server.kill()
        server.start()
        browser.refresh()
        wait_for(browser, lambda _: status(browser) == before)
        assert moves_of(browser) == moves
    finally:
        server.stop()


def play_carelessly(browser: Any, hand: int) -> None:
    """Play a hand to its end by random choices, see its review, and go on to the next."""
    wait_for(browser, lambda _: f"Hand {hand + 1}" in status(browser))
    click_through(browser, random.Random(hand))
    wait_for(browser, lambda _: all_of(browser, "section[aria-label^='Review'] p"))
    press(browser, "button[data-do=next]")


def test_hands_are_filtered_taken_away_and_drilled(server: Server, browser: Any) -> None:
    browser.get_log("browser")  # what other tests left there
    browser.get(room := new_room(server, "leduc", seat=0))
    for hand in range(4):
        play_carelessly(browser, hand)
    wait_for(browser, lambda _: all_of(browser, "a[data-in-room=hands][href]"))
    browser.find_element("css selector", "a[data-in-room=hands]").click()
    wait_for(browser, lambda _: len(all_of(browser, "section[aria-label=Hands] tr")) == 5)
    browser.get(f"{room}/hands?cost=1000")
    wait_for(browser, lambda _: "0 hands fit" in browser.page_source)
    browser.get(f"{room}/hands?show=2")
    wait_for(browser, lambda _: all_of(browser, "section[aria-label='Hand 3'] svg"))
    link = browser.find_element("css selector", "a[data-in-room='file/csv']").get_attribute("href")
    with urllib.request.urlopen(link) as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="fogplay-leduc.csv"'
        assert len(answer.read().decode().splitlines()) == 5
    for hand in range(4, 40):  # cards are drawn anew in every run, and careless choices may have been right
        browser.get(f"{room}/drill")
        wait_for(browser, lambda _: all_of(browser, "button[data-do=answer]") or "Nothing to" in browser.page_source)
        if all_of(browser, "button[data-do=answer]"):
            break
        browser.get(room)
        play_carelessly(browser, hand)
    press(browser, "button[data-do=answer]")
    wait_for(browser, lambda _: "of 1 right" in browser.page_source)
    press(browser, "button[data-do=next]")
    wait_for(browser, lambda _: all_of(browser, "button[data-do=answer]"))
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_a_real_mouse_click_counts_once(server: Server, browser: Any) -> None:
    browser.get(new_room(server, "leduc", seat=0))
    wait_for(browser, lambda _: all_of(browser, "button[data-decision='0']"))
    all_of(browser, "button[data-do=act]")[0].click()
    wait_for(browser, lambda _: is_over(browser) or all_of(browser, "button[data-decision='1']"))
    assert not all_of(browser, "[role=alert]")


def test_two_browsers_show_the_same_room_and_another_room_stays_apart(server: Server, browser: Any) -> None:
    address, other = new_room(server, "leduc", seat=0), new_room(server, "leduc", seat=0)
    with chromium(360, 740, dark=True) as second:
        for driver in (browser, second):
            driver.get(address)
            wait_for(driver, lambda d: all_of(d, "button[data-decision='0']"))
        press(browser, "button[data-do=act]", -1)
        wait_for(second, lambda d: is_over(d) or all_of(d, "button[data-decision='1']"))
        assert status(second) == status(browser)
        second.get(other)
        wait_for(second, lambda d: all_of(d, "button[data-decision='0']"))
        wide = second.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 360  # nothing sticks out on a phone


def test_what_another_page_sends_changes_nothing(server: Server, browser: Any) -> None:
    """Another room's secret, none, a move out of turn, junk: nothing happens, or the page says why."""
    browser.get(new_room(server, "leduc", seat=0))
    wait_for(browser, lambda _: all_of(browser, "button[data-decision='0']"))
    before = moves_of(browser)
    own = "location.pathname.split('/')[2]"
    for sent in (
        "{do:'act',hand:0,decision:0,action:1,secret:'wrong'}",
        "{do:'act',hand:0,decision:0,action:1}",
        "'junk'",
        "null",
        f"{{do:'act',hand:0,decision:5,action:1,secret:{own}}}",
        f"{{do:'act',hand:'x',decision:0,action:1,secret:{own}}}",
        f"{{do:'act',hand:0,decision:0,action:1e99,secret:{own}}}",
        f"{{do:'review',hand:-1,secret:{own}}}",
        f"{{do:'next',hand:0,secret:{own}}}",
        f"{{do:'nothing',secret:{own}}}",
    ):
        browser.execute_script(f"emitEvent('fogplay', {sent})")
    wait_for(browser, lambda _: all_of(browser, "[role=alert]"))
    assert moves_of(browser) == before


def test_no_request_leaves_this_machine_and_the_first_page_is_small(server: Server, browser: Any) -> None:
    browser.get_log("performance")
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    browser.get(server.url)
    wait_for(browser, lambda _: all_of(browser, ".q-btn"))
    told = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in told if each["method"] == "Network.requestWillBeSent"]
    assert asked
    assert all(url.startswith((server.url, "data:", "blob:")) for url in asked)
    size = sum(each["params"]["encodedDataLength"] for each in told if each["method"] == "Network.loadingFinished")
    assert size <= 600_000
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})


def test_training_is_started_stopped_resumed_and_played_against(server: Server, browser: Any) -> None:
    browser.get(f"{server.url}/train")
    wait_for(browser, lambda _: all_of(browser, ".q-btn"))
    field = all_of(browser, "input[type=number]")[0]
    field.clear()
    field.send_keys("50000000")
    press(browser, ".q-btn")
    wait_for(browser, lambda _: "running" in browser.page_source and all_of(browser, "button[data-do=play]"))
    wait_for(browser, lambda _: "nash_conv" in all_of(browser, ".run")[0].text)
    press(browser, "button[data-do=stop]")
    wait_for(browser, lambda _: all_of(browser, "button[data-do=resume]"))
    stopped = all_of(browser, ".run")[0].text
    assert "stopped: iteration" in stopped
    reached = int(stopped.split("iteration ")[1].split(" of")[0].replace(",", ""))
    press(browser, "button[data-do=resume]")
    wait_for(browser, lambda _: all_of(browser, "button[data-do=stop]"))

    def further(_: Any) -> bool:
        text = all_of(browser, ".run")[0].text
        return int(text.split("iteration ")[1].split(" of")[0].replace(",", "")) > reached

    wait_for(browser, further)
    press(browser, "button[data-do=play]")
    wait_for(browser, lambda _: "/room/" in browser.current_url and all_of(browser, ".board svg"))
    click_through(browser, random.Random(0))
    browser.get(f"{server.url}/train")
    wait_for(browser, lambda _: all_of(browser, "button[data-do=stop]"))
    press(browser, "button[data-do=stop]")
    wait_for(browser, lambda _: all_of(browser, "button[data-do=resume]"))


def choose(driver: Any, place: int, text: str) -> None:
    """Choose an entry of the list number ``place`` on a page."""
    wait_for(driver, lambda _: all_of(driver, "input[role=combobox]"))[place].click()
    script = "return [...document.querySelectorAll('.q-item')].find((item) => item.innerText.trim() === arguments[0])"
    wait_for(driver, lambda _: driver.execute_script(script, text)).click()
    wait_for(driver, lambda _: all_of(driver, "input[role=combobox]")[place].get_attribute("value") == text)


def show(driver: Any, game: str) -> None:
    """Choose the best of a game on the page to explore, by keyboard, and let it be drawn."""
    from selenium.webdriver.common.keys import Keys

    field = wait_for(driver, lambda _: all_of(driver, "input[role=combobox]"))[0]
    while f"the best of {game}" != field.get_attribute("value"):
        field.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    press(driver, ".q-btn")
    wait_for(driver, lambda _: all_of(driver, "svg.fp"))


def test_strategies_are_explored(server: Server, browser: Any) -> None:
    browser.get(f"{server.url}/explore")
    show(browser, "kuhn")
    wait_for(browser, lambda _: len(all_of(browser, "svg.fp")) == 2)  # bars and the tree of the first game
    assert "12 infosets" in browser.page_source


def test_two_strategies_are_compared(server: Server, browser: Any) -> None:
    browser.get(f"{server.url}/explore")
    choose(browser, 0, "the best of kuhn")
    choose(browser, 1, "the best of leduc")
    press(browser, ".q-btn")
    wait_for(browser, lambda _: "no infoset in common" in browser.page_source)
    choose(browser, 1, "the best of kuhn")
    press(browser, ".q-btn")
    wait_for(browser, lambda _: "They differ by 0.0 % on average over 12 situations" in browser.page_source)


@pytest.mark.slow
def test_two_charts_stand_side_by_side_with_differences_first(server: Server, browser: Any) -> None:
    browser.get(f"{server.url}/explore")
    choose(browser, 0, "smooth-uct of holdem")
    choose(browser, 1, "smooth-uct-average of holdem")
    press(browser, ".q-btn")
    wait_for(browser, lambda _: len(all_of(browser, ".pair svg")) == 2)
    bars = browser.execute_script("return document.querySelector('svg.fp').getBoundingClientRect().top")
    one, two = browser.execute_script(
        "return [...document.querySelectorAll('.pair svg')].map((each) => each.getBoundingClientRect().toJSON())"
    )
    assert bars < one["top"] == two["top"]
    assert one["right"] <= two["left"]


@pytest.mark.slow
def test_a_chart_tells_what_hands_earn_to_pointers_and_to_keys(server: Server, browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.get(f"{server.url}/explore")
    show(browser, "holdem")
    cells = wait_for(browser, lambda _: all_of(browser, "svg g[tabindex]"))
    assert len(cells) == 169
    ActionChains(browser).move_to_element(cells[14]).perform()
    told = wait_for(browser, lambda _: (t := all_of(browser, "#cell")[0].text).startswith("KK:") and t)
    assert re.search(r"fold earns -5.0, call [+-][\d.]+( ± [\d.]+)?, raise", told)
    browser.execute_script("arguments[0].focus()", cells[0])
    ActionChains(browser).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT).perform()
    wait_for(browser, lambda _: all_of(browser, "#cell")[0].text.startswith("KQo:"))
    assert browser.switch_to.active_element.get_attribute("aria-label").startswith("KQo:")


def test_wrong_rooms_and_paths_are_refused(server: Server, browser: Any) -> None:
    browser.get(f"{server.url}/room/..%2f..%2fetc%2fpasswd")
    wait_for(browser, lambda _: "not found" in browser.page_source.lower() or "no such room" in browser.page_source)
    browser.get(f"{server.url}/room/guess")
    wait_for(browser, lambda _: "there is no such room" in browser.page_source)
