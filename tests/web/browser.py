"""A server and a headless Chromium for tests; they are skipped, with the reason, where either is missing."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")


def missing() -> str:
    """What browser tests lack here, if anything."""
    lacking = [name for name in ("nicegui", "selenium") if importlib.util.find_spec(name) is None]
    lacking += ["chromium"] if CHROMIUM is None else []
    lacking += ["chromium-driver"] if DRIVER is None else []
    return (
        f"browser tests need {', '.join(lacking)} (Debian: apt-get install chromium chromium-driver)" if lacking else ""
    )


needs_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "all there")


class Server:
    """``fogplay serve`` as a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.options = folder, options
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "fogplay", "serve", "--port", str(self.port), "--rooms", str(self.folder)]
        self.log = (self.folder / "log").open("a")
        # NiceGUI behaves otherwise within pytest
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NICEGUI"))}
        self.process = subprocess.Popen(
            [*command, *self.options], stdout=self.log, stderr=self.log, cwd=self.folder, env=env
        )
        until = time.monotonic() + 180
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{self.url}/", timeout=5).read()
                return
            except urllib.error.HTTPError:
                return  # it answers, if only to those who have the token
            except OSError:
                pass
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.1)
        raise TimeoutError("the server does not answer")

    def stop(self) -> None:
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()
        self.process.wait()
        self.log.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def chromium(width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Any]:
    """A browser of its own, with a profile that nobody else has."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--force-device-scale-factor=1",
    ):
        options.add_argument(flag)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER), env={**os.environ, "LANG": "C.UTF-8"}))
    if dark:
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        )
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        yield driver
    finally:
        driver.quit()


def wait_for(driver: Any, answer: Any, seconds: float = 180.0) -> Any:
    """Wait until ``answer(driver)`` is true, through pages that change meanwhile; return it."""
    from selenium.common.exceptions import WebDriverException

    until = time.monotonic() + seconds
    while True:
        with contextlib.suppress(WebDriverException):
            found = answer(driver)
            if found:
                return found
        if time.monotonic() > until:
            body = driver.execute_script("return document.body.innerText")
            raise AssertionError(f"did not happen within {seconds} s; the page says: {body[:600]}")
        time.sleep(0.03)


def all_of(driver: Any, selector: str) -> list[Any]:
    return list(driver.find_elements("css selector", selector))


def press(driver: Any, selector: str, place: int = 0) -> None:
    """Press the button that is there when the script runs, however often the page is made again."""
    script = """const all = document.querySelectorAll(arguments[0]);
        const one = all[(arguments[1] + all.length) % all.length];
        if (!one) return false; one.click(); return true;"""
    wait_for(driver, lambda _: driver.execute_script(script, selector, place))


def status(driver: Any) -> str:
    """The line that says whose turn it is, read at once: the page may be made again at any time."""
    return str(driver.execute_script("const turn = document.querySelector('#turn'); return turn ? turn.innerText : ''"))


def is_over(driver: Any) -> bool:
    return bool(all_of(driver, "button[data-do=next]"))
