"""``digest``: a name for the code that results come from, so that results of other code are not mixed in."""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
# All that a run goes through from the rules to the points that it writes.
PARTS = (
    "atomics.py", "cards", "checks.py", "dispatch.py", "evaluate", "experiments/runner.py", "games", "gdl",
    "generated.py", "jit.py", "kernels", "simulators", "solvers", "storage.py", "strategies", "trees",
)  # fmt: skip


@functools.cache
def digest(package: Path = PACKAGE) -> str:
    """Changes with every statement of the code that a run goes through; not with comments, docstrings or layout."""
    found = hashlib.sha256()
    for part in PARTS:
        path = package / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(f"{file.relative_to(package)}\0{statements(file.read_text(encoding='utf-8'))}\0".encode())
    return found.hexdigest()[:16]


def statements(source: str) -> str:
    """The code alone, without what only people read."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)
