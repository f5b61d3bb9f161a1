"""``@kernel`` and ``@piece``: compile a function, and cache the result on disk under a key that changes with any edit.

Numba's own disk cache checks only the file that defines a function, not the files of the functions it calls. The cache
folder used here is named by a hash of every source file that holds kernels, so an edit anywhere starts a new folder.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs

KEEP_FOLDERS = 3
ABANDONED_SECONDS = 10.0  # after which a temporary file is of a killed process: writing one takes milliseconds
PROCESS = uuid.uuid4().hex[:12]  # in the names of the files that this process writes compiled code to
TEMPORARY = "fogplay-kernels-"  # before a process's number, in the name of its temporary folder
PACKAGE = Path(__file__).parent
NOT_KEPT: list[str] = []  # why compiled code could not be written to disk; the command line says it once
# Kernels allocate nothing, so they are compiled without numba's reference counting, which would otherwise apply to
# every array of every tuple passed to a function and double the time of external sampling. The option is
# undocumented; tests/test_jit.py explains what to do when a new version of numba drops it.
UNCOUNTED: Any = {"_nrt": False}
INLINED: Any = {"forceinline": True, **UNCOUNTED}


def user_cache() -> Path:
    """The folder for files that can be rebuilt; the environment variable FOGPLAY_CACHE changes it."""
    return Path(os.environ.get("FOGPLAY_CACHE") or platformdirs.user_cache_dir("fogplay"))


def num_cores() -> int:
    """How many cores this process may use, possibly fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def cache_folder() -> Path:
    """The folder of this version's compiled kernels; a temporary one if the user's cache is not writable."""
    marks = (b"@kernel", b"@piece", b"@by_type", b".register(", b"@overload")
    sources = sorted(path for path in PACKAGE.rglob("*.py") if any(mark in path.read_bytes() for mark in marks))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    _remove_orphaned()
    base = user_cache() / "kernels"
    folder = base / f"{digest.hexdigest()[:16]}-numba{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # mark it as the newest, so that it is kept
        _remove_old_folders(base)
        _remove_abandoned(folder)
    except OSError as error:
        NOT_KEPT.append(
            f"the cache {base} cannot be written ({error.strerror}), so every command compiles its kernels anew: set "
            "FOGPLAY_CACHE to a folder that can be written"
        )
        temporary = tempfile.mkdtemp(prefix=f"{TEMPORARY}{os.getpid()}-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary)
    return folder


def _remove_old_folders(base: Path) -> None:
    folders = sorted((path for path in base.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for folder in folders[:-KEEP_FOLDERS]:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_orphaned() -> None:
    """Remove the temporary folders of processes that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        import psutil  # rarely needed, and this module is imported first

        process = path.name.removeprefix(TEMPORARY).partition("-")[0]
        if not (process.isdigit() and psutil.pid_exists(int(process))):
            shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote compiled code."""
    for path in folder.rglob("*.tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` on its first call; it releases the interpreter lock and divides by zero as numpy does."""
    return _compiled(function)


def piece(function: Callable[..., Any]) -> Any:
    """The same for a part of a kernel: it is inlined into its caller, which saves passing all the arrays."""
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[..., Any], forceinline: bool = False) -> Any:
    config: Any = numba.config
    if config.ENABLE_CUDASIM:  # numba's GPU simulator runs kernels, and all they call, as plain Python
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())  # numba reads this only when it decorates
    try:
        made = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=forceinline, **UNCOUNTED)(function)
    finally:
        config.CACHE_DIR = before
    _write_apart(made)
    _overlook_strangers(made)
    _go_on_without(made)
    return made


def _write_apart(compiled: Any) -> None:
    """Let no two processes write compiled code to files of the same name.

    Numba numbers the files of a function by what its index lists. Two processes that compile it for different types at
    the same time take the same number, and one is later handed the other's code.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is not None:
        files._data_name_pattern = files._data_name_pattern.replace(".{number", f".{PROCESS}-{{number")


def _overlook_strangers(compiled: Any) -> None:
    """Let a function be used that another program has compiled for a type of its own, which this one cannot import.

    What is known of the function is forgotten then, and it is compiled anew.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is None:
        return
    load = files._load_index

    def load_known() -> Any:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    files._load_index = load_known


def _go_on_without(compiled: Any) -> None:
    """Let compiled code that cannot be written to disk, as on a full one, be used all the same."""
    cache = getattr(compiled, "_cache", None)
    if cache is None:
        return
    save = cache.save_overload

    def try_to_save(signature: Any, data: Any) -> None:
        try:
            save(signature, data)
        except OSError as error:
            NOT_KEPT.append(f"compiled kernels cannot be kept in {cache_folder()}: {error.strerror}; set FOGPLAY_CACHE")

    cache.save_overload = try_to_save


def record(fields: list[tuple[str, Any]], packed: bool = False) -> Any:
    """The dtype of an array whose entries have named fields, both in compiled code and in plain Python.

    Fields are aligned unless they are ``packed``, which a GPU reads byte by byte.
    """
    return np.dtype((np.record, np.dtype(fields, align=not packed)))


def is_compiled(*kernels: Any) -> bool:
    """Whether the disk cache holds each of these kernels, compiled for some types of arguments."""
    config: Any = numba.config
    if config.DISABLE_JIT or config.ENABLE_CUDASIM:
        return True
    folder = cache_folder()
    for each in kernels:
        function = each.py_func
        stem = Path(function.__code__.co_filename).stem
        if not any(folder.rglob(f"{stem}.{function.__qualname__}-*.nbi")):
            return False
    return True
