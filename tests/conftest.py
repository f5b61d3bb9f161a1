"""What all tests share: the same examples in every run, and work that several processes divide among themselves."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from hypothesis import settings

# A failure is there for everyone, not for the unlucky, and not for those whose machine has other work.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

TABLES = "from fogplay.cards import tables; [tables.load(measure) for measure in ('ehs2', 'ehs')]"
LARGE = (  # caches of up to a gigabyte
    "fogplay.strategies.betting.betting_of",
    "fogplay.strategies.policy.signals_of",
    "fogplay.games.holdem._signals",
    "fogplay.games.holdem._strength",
    "fogplay.rooms.company._best",
)
# Files that compile the same kernels, known by a part of their path: one process runs all of a family, so that no two
# compile the same at the same time, and each keeps the code of a few families only.
FAMILIES = ("doudizhu|deltadou", "gdl|ggp|sheet", "holdem|betting", "kernels/|solvers/")
LONG = ("play/test_conformance", "docs/test_pages", "experiments/test_reproduce")  # begun early, so as not to end last


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the tables of hand strength once, before processes that each need them start.

    Ctrl-C is ignored in the background jobs of a script, and so in all they start: tests that send it need the default.
    Commands that tests start need not compile the package's modules anew, and have no more than two pools of memory.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    starts_others = session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput")
    cache = Path(os.environ.get("FOGPLAY_CACHE") or platformdirs.user_cache_dir("fogplay"))  # imports nothing large
    if starts_others and len(list(cache.glob("tables/strength-*"))) < 3:
        subprocess.run([sys.executable, "-c", TABLES], check=False)


def family(file: str) -> tuple[int, str]:
    """When a file's turn comes, and which others the process that runs it runs too."""
    place = file.removeprefix("tests/").removesuffix(".py")
    for turn, words in enumerate(FAMILIES):
        if re.search(words, place):
            return turn, words
    return (len(FAMILIES) if place in LONG else len(FAMILIES) + 1), place


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """An order that keeps all processes at work until the end; long checks may take as long as they like."""
    items.sort(key=lambda item: family(item.nodeid.partition("::")[0])[0])
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(0))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files run whole, each family in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class Families(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return family(nodeid.partition("::")[0])[1]

    return Families(config, log)


def pytest_collection_finish() -> None:
    """Do not search what has been imported for garbage again and again: compiling makes much of it."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    """Give the memory of large trees back when a module is done, since other processes are at work beside this one."""
    if nextitem is not None and nextitem.path == item.path:
        return
    for name in LARGE:
        module, _, cached = name.rpartition(".")
        if module in sys.modules:
            getattr(sys.modules[module], cached).cache_clear()
    gc.collect()
    for each in gc.get_objects():
        if type(each) is np.memmap and isinstance(each.base, mmap.mmap) and each.mode == "r":
            each.base.madvise(mmap.MADV_DONTNEED)  # read again when it is needed
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
