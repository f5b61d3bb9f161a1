"""Functions that answer by the type of their first argument, in compiled code and in plain Python alike.

Games, schedules and rollouts are NamedTuples of arrays. Numba resolves the call while it compiles, so dispatch costs
nothing when a kernel runs, and each kernel is written once for all types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from fogplay.jit import INLINED


def by_type(function: Callable[..., Any]) -> Any:
    """Make ``function`` answer by the type of its first argument: ``function.register(Type)`` adds an answer."""
    answers: dict[type, Callable[..., Any]] = {}

    def ask(first: Any, *rest: Any) -> Any:
        return answers[type(first)](first, *rest)

    def register(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(answer: Callable[..., Any]) -> Callable[..., Any]:
            answers[kind] = answer
            return answer

        return keep

    @overload(ask, strict=False, jit_options=INLINED)
    def _compiled(first: Any, *rest: Any) -> Any:
        return answers.get(getattr(first, "instance_class", type(None)))

    ask.__name__, ask.__doc__ = function.__name__, function.__doc__
    ask.register = register  # type: ignore[attr-defined]
    return ask
