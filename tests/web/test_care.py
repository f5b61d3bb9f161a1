"""What a person may expect of the pages: they come back, fit on a phone, keep the focus, and want a token of others."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fogplay.rooms.store import BRISK
from tests.web.browser import Server, all_of, chromium, is_over, needs_browser, press, status, wait_for
from tests.web.test_browser import click_through, moves_of, new_room

pytestmark = needs_browser
WATCH = """window.told = []; new MutationObserver(() => {
  const turn = document.querySelector("#turn");
  if (turn && told.at(-1) !== turn.textContent) told.push(turn.textContent);
}).observe(document.body, {childList: true, subtree: true});"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("care"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def phone() -> Iterator[Any]:
    with chromium(360, 740, dark=True) as driver:
        yield driver


def test_a_page_comes_back_by_itself_when_the_server_does(tmp_path: Path, phone: Any) -> None:
    server = Server(tmp_path)
    try:
        phone.get(new_room(server, "leduc", seat=0))
        wait_for(phone, lambda _: all_of(phone, "button[data-decision='0']"))
        press(phone, "button[data-do=act]", -1)
        wait_for(phone, lambda _: is_over(phone) or all_of(phone, "button[data-decision='1']"))
        before, moves = status(phone), moves_of(phone)
        server.kill()
        wait_for(phone, lambda _: "Connection lost" in phone.find_element("css selector", "body").text)
        server.start()
        wait_for(phone, lambda _: "Connection lost" not in phone.find_element("css selector", "body").text)
        wait_for(phone, lambda _: status(phone) == before)
        assert moves_of(phone) == moves
        press(phone, "button[data-do=act],button[data-do=next]")
        wait_for(phone, lambda _: status(phone) != before)
    finally:
        server.stop()


def test_others_need_the_token_that_was_printed(tmp_path: Path, phone: Any) -> None:
    server = Server(tmp_path, "--host", "0.0.0.0")
    try:
        phone.get(server.url)
        assert "wants the address with the token" in phone.page_source
        printed = re.search(r"\?token=([\w-]+)", (tmp_path / "log").read_text())
        assert printed is not None
        phone.get(f"{server.url}/?token=wrong")
        assert "wants the address with the token" in phone.page_source
        phone.get(f"{server.url}/?token={printed[1]}")
        wait_for(phone, lambda _: all_of(phone, ".q-btn"))
        assert "token" not in phone.current_url
        press(phone, ".q-btn")
        wait_for(phone, lambda _: "/room/" in phone.current_url and all_of(phone, ".board svg"))
        click_through(phone, random.Random(0))
    finally:
        server.stop()


@pytest.mark.parametrize(
    "game", ["leduc", "goofspiel(cards=5,bids=revealed)", "pam(rows=3,columns=3,horizon=8)", "rps"]
)
def test_nothing_sticks_out_on_a_phone(server: Server, phone: Any, game: str) -> None:
    phone.get(room := new_room(server, game, seat=0))
    wait_for(phone, lambda _: all_of(phone, ".board svg"))
    wide = [phone.execute_script("return document.documentElement.scrollWidth")]
    click_through(phone, random.Random(1))
    wait_for(phone, lambda _: all_of(phone, "section[aria-label^='Review'] p:not(.soft)"))
    for path in ("", "/hands?show=0", "/drill"):
        if path:
            phone.get(f"{room}{path}")
            wait_for(phone, lambda _: all_of(phone, "nav") and "Opening" not in phone.page_source)
        wide.append(phone.execute_script("return document.documentElement.scrollWidth"))
    assert max(wide) <= 360


def test_the_focus_stays_on_the_moves(server: Server, phone: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    phone.get(new_room(server, "leduc", seat=0))
    wait_for(phone, lambda _: all_of(phone, "button[data-decision='0']"))
    phone.execute_script("document.querySelectorAll('.moves button')[1].focus()")
    ActionChains(phone).send_keys(Keys.ENTER).perform()
    wait_for(phone, lambda _: is_over(phone) or all_of(phone, "button[data-decision='1']"))
    wait_for(phone, lambda _: phone.execute_script("return !!document.activeElement.closest('.moves')"))
    said = phone.execute_script("return document.querySelector('.only-said').textContent")
    assert status(phone) in said  # a screen reader is told
    assert "You bet 2." in said or "You check." in said


def test_four_colours_are_remembered_by_the_browser(server: Server, phone: Any) -> None:
    phone.get(new_room(server, "leduc", seat=0))
    four = "return getComputedStyle(document.querySelector('.suit-d,.suit-c,.suit-h,.suit-s')).fill"
    wait_for(phone, lambda _: all_of(phone, "button[data-look=suits]"))
    assert not phone.execute_script("return document.documentElement.classList.contains('four')")
    assert phone.execute_script(four)
    press(phone, "button[data-value=four]")
    wait_for(phone, lambda _: phone.execute_script("return document.documentElement.classList.contains('four')"))
    phone.refresh()
    wait_for(phone, lambda _: phone.execute_script("return document.documentElement.classList.contains('four')"))
    press(phone, "button[data-value=two]")
    wait_for(phone, lambda _: not phone.execute_script("return document.documentElement.classList.contains('four')"))


def test_wide_pages_show_pictures_of_cards_and_narrow_ones_do_so_on_demand(server: Server, phone: Any) -> None:
    """The pictures come in one request, whatever cards are in play."""

    def seen(driver: Any, kind: str) -> Any:
        return driver.execute_script(f"return document.querySelector('{kind}').getBoundingClientRect().width > 0")

    def asked(driver: Any) -> list[str]:
        return driver.execute_script(
            "return performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('cards-'))"
        )

    phone.get(new_room(server, "leduc", seat=0))
    wait_for(phone, lambda _: all_of(phone, "button[data-value=drawn][aria-pressed=true]"))
    assert seen(phone, ".drawn")
    assert not seen(phone, ".pictured")
    assert asked(phone) == []
    press(phone, "button[data-value=faces]")
    wait_for(phone, lambda _: seen(phone, ".pictured") and not seen(phone, ".drawn"))
    phone.refresh()
    wait_for(phone, lambda _: all_of(phone, ".pictured") and seen(phone, ".pictured"))
    press(phone, "button[data-value=drawn]")
    wait_for(phone, lambda _: seen(phone, ".drawn") and not seen(phone, ".pictured"))
    with chromium(1280, 900) as wide:
        wide.get(new_room(server, "leduc", seat=0))
        wait_for(wide, lambda _: all_of(wide, ".pictured") and seen(wide, ".pictured"))
        click_through(wide, random.Random(1))
        assert seen(wide, ".pictured")
        assert len(asked(wide)) == 1


def test_moves_are_shown_at_the_rooms_pace_and_settings_are_kept(server: Server, phone: Any) -> None:
    phone.get(new_room(server, "kuhn(players=3)", "uniform", seat=2, pace=BRISK))
    wait_for(phone, lambda _: all_of(phone, ".board svg"))
    phone.execute_script(WATCH)
    for _ in range(3):
        click_through(phone, random.Random(0))
        press(phone, "button[data-do=next]")
        wait_for(phone, lambda _: not is_over(phone) and all_of(phone, "button[data-do=act]"))
    told = phone.execute_script("return told")
    assert any(re.fullmatch(r"Hand \d\. uniform(-2)? to move\.", line) for line in told), told
    chosen = "button[data-what=pace][aria-pressed=true]"
    assert all_of(phone, chosen)[0].text == BRISK
    press(phone, "button[data-what=pace][data-value='at once']")
    wait_for(phone, lambda _: all_of(phone, chosen)[0].text == "at once")
    phone.refresh()
    wait_for(phone, lambda _: all_of(phone, chosen)[0].text == "at once")


def test_runs_of_a_game_share_a_chart(server: Server, phone: Any) -> None:
    phone.get(f"{server.url}/train")
    wait_for(phone, lambda _: all_of(phone, ".q-btn"))
    all_of(phone, "input[type=number]")[0].send_keys("300")
    for number in (1, 2):
        press(phone, ".q-btn")
        wait_for(phone, lambda _, n=number: len(all_of(phone, ".run")) == n)
    wait_for(phone, lambda _: phone.page_source.count("finished: iteration 300 of 300") == 2)
    wait_for(phone, lambda _: len(all_of(phone, "section[aria-label=kuhn] polyline")) == 2)
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 360
