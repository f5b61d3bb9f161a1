"""Matrix games as a person at the table reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.matrix import Matrix
from fogplay.notation.talk import Question, Talk, asked, begin, verb

MOST_SHOWN = 3  # choices of each player whose payoffs fit into a line


def talk_of(game: Matrix) -> type[MatrixTalk]:
    """The wording for these rules."""
    return MatrixTalk


class MatrixTalk(Talk):
    """The payoffs of small tables, and at the end what everybody chose."""

    game: Matrix

    @staticmethod
    def opening(game: Matrix, spec: str) -> str:
        return f"A matrix game ({spec})." if len(spec) <= 60 else "A matrix game."

    @staticmethod
    def rules(game: Matrix) -> list[str]:
        lines = ["Everybody chooses at the same time; a table gives the payoffs."]
        if game.num_players() == 2 and max(map(len, game.actions)) <= MOST_SHOWN:
            for player in range(2):
                lines.append(f"Player {player} gets {_payoffs(game, player)}.")
        return lines

    def tell(self, event: Any) -> str | None:
        return None  # choices are shown at the end

    def situation(self, view: Any) -> str:
        return f"You are player {view.seat}"

    def question(self, view: Any) -> Question:
        return asked(self.situation(view), view.names, view.legal)

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        chosen = [f"{self.names[event.seat]} {verb(event.seat, self.seat, 'choose')} {event.name}" for event in seen]
        return [f"{begin(', '.join(chosen))}."]


def _payoffs(game: Matrix, player: int) -> str:
    """The payoffs of one of two players, by its own choice: ``rock: 50 0 100, …``."""
    table = game.table[player]
    rows = []
    for choice, name in zip(game.actions[player], game.names[player], strict=True):
        line = table[choice] if player == 0 else [row[choice] for row in table]
        rows.append(f"{name} {' '.join(f'{payoff:g}' for payoff in line)}")
    return f"{', '.join(rows)} against {', '.join(game.names[1 - player])}"
