"""Princess and Monster as a person at the table reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.game import CHANCE
from fogplay.games.pam import DIRECTIONS, LETTERS, MONSTER, PrincessAndMonster
from fogplay.notation.talk import Question, Talk, asked, begin

ROLES = ("the monster", "the princess")


def talk_of(game: PrincessAndMonster) -> type[PamTalk]:
    """The wording for these rules."""
    return PamTalk


class PamTalk(Talk):
    """The own cell and path; at the end both paths."""

    game: PrincessAndMonster

    @staticmethod
    def opening(game: PrincessAndMonster, spec: str) -> str:
        return f"Princess and Monster ({spec})."

    @staticmethod
    def rules(game: PrincessAndMonster) -> list[str]:
        return [
            f"Both walk in the dark through {game.rows} rows of {game.columns} cells, one step in turn, the monster "
            "first, and neither ever sees the other.",
            f"The monster catches the princess by stepping into her cell. The game ends then, or after {game.horizon} "
            "steps of both together.",
            "The princess earns 1 per step survived, and the monster pays it.",
        ]

    def places(self) -> str:
        return ", ".join(f"{ROLES[seat]}: {name}" for seat, name in enumerate(self.names)).capitalize() + "."

    def tell(self, event: Any) -> str | None:
        return None  # all that is seen is the own path, which the question tells

    def situation(self, view: Any) -> str:
        start, _, path = view.infoset.partition(":")
        cell = self._cell(start.split()[-1], path)
        steps = f", after {', '.join(DIRECTIONS[LETTERS.index(letter)] for letter in path)}" if path else ""
        number = 2 * len(path) + 1 + (view.seat != MONSTER)
        return f"Step {number} of {self.game.horizon}. You are in row {cell[0]}, column {cell[1]}{steps}"

    def question(self, view: Any) -> Question:
        return asked(self.situation(view), view.names, view.legal)

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        starts = [event.action for event in seen if event.seat == CHANCE]
        if not starts or starts[0] is None:
            return []
        cells = divmod(starts[0], self.game.rows * self.game.columns)
        lines = []
        for seat, cell in enumerate(cells):
            steps = [event.name for event in seen if event.seat == seat]
            walked = ", ".join(steps) if steps else "no step"
            row, column = self.game.cell_to_string(cell).split(",")
            lines.append(f"{begin(ROLES[seat])} ({self.names[seat]}) from row {row}, column {column}: {walked}.")
        return lines

    @staticmethod
    def _cell(start: str, path: str) -> tuple[int, int]:
        """The row and column after a path."""
        row, column = map(int, start.split(","))
        return row + path.count("s") - path.count("n"), column + path.count("e") - path.count("w")
