"""One worker of a match: ``python -m fogplay.agents.worker``, driven by ``workers.py``."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, TextIO

from fogplay.agents.resolve import resolve
from fogplay.errors import FogplayError
from fogplay.play import Hands, format_for
from fogplay.play.hands import most_seats
from fogplay.trees import named


def main() -> None:
    """Read a job and ranges of deals from stdin; print a line of JSON for each range."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever agents print is not an answer
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the agents are closed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        hands = _hands(json.loads(sys.stdin.readline()))
    except FogplayError as error:
        _answer(answers, {"error": str(error)})
        return
    try:
        for line in iter(sys.stdin.readline, ""):
            first, count = json.loads(line)
            _answer(answers, _played(hands, first, count))
    finally:
        hands.close()


def _hands(job: dict[str, Any]) -> Hands:
    rules, spec = named(job["game"])
    texts = job["agents"]
    format = format_for(rules, texts, spec, decks=job["decks"])
    casts = [resolve(texts, rules) for _ in range(most_seats(format))]
    return Hands(rules, format, casts, job["names"], job["seed"], anew=True, limit=job["limit"])


def _played(hands: Hands, first: int, count: int) -> dict[str, Any]:
    try:
        block = hands.block(first, count)
    except FogplayError as error:
        return {"error": str(error)}
    return {"points": block.points.tolist(), "troubles": block.troubles}


def _answer(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
