"""What all tests share: the same examples in every run, and work that several processes divide among themselves."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True)  # a failure is there for everyone, not for the unlucky
settings.load_profile("fixed")

TABLES = "from fogplay.cards import tables; [tables.load(measure) for measure in ('ehs2', 'ehs')]"
LARGE = (  # caches of up to a gigabyte
    "fogplay.strategies.betting.betting_of",
    "fogplay.strategies.policy.signals_of",
    "fogplay.games.holdem._signals",
    "fogplay.games.holdem._strength",
)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the tables of hand strength once, before processes that each need them start.

    Ctrl-C is ignored in the background jobs of a script, and so in all they start: tests that send it need the default.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    starts_others = session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput")
    cache = Path(os.environ.get("FOGPLAY_CACHE") or platformdirs.user_cache_dir("fogplay"))  # imports nothing large
    if starts_others and len(list(cache.glob("tables/strength-*"))) < 3:
        subprocess.run([sys.executable, "-c", TABLES], check=False)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Tests that share what a module makes once run in one process, one after the other."""
    for item in items:
        known = getattr(item, "_fixtureinfo", None)
        made = known.name2fixturedefs.values() if known is not None else ()
        if any(each[-1].scope == "module" for each in made):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    """Give the memory of large trees back when a module is done, since other processes are at work beside this one."""
    if nextitem is not None and nextitem.path == item.path:
        return
    for name in LARGE:
        module, _, cached = name.rpartition(".")
        if module in sys.modules:
            getattr(sys.modules[module], cached).cache_clear()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
