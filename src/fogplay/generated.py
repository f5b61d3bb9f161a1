"""Modules whose source is made at run time, kept in the folder of compiled kernels: each machine compiles them once."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from typing import Any

from fogplay import storage
from fogplay.jit import cache_folder


def module_from(kind: str, text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The module of a source, in which ``names`` are known; ``kind`` begins the name of its file."""
    name = f"{kind}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    path = cache_folder() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)  # another version of the package may have removed the folder
        with storage.atomically(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where compiled code that is read from disk looks for it
    vars(module).update(names or {})
    spec.loader.exec_module(module)
    return module
