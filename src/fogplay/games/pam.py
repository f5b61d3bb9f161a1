"""Princess and Monster (Isaacs 1965): pursuit in a dark room, where neither player ever learns where the other is."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, Game, State, require_whole

MONSTER, PRINCESS = 0, 1
DIRECTIONS = ("north", "east", "south", "west")
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
LETTERS = "nesw"


@dataclass(frozen=True)
class PrincessAndMonster(Game):
    """Princess and Monster on a 4-connected grid (2011 paper, section 2.2); the princess earns 1 per move survived.

    The paper does not say who moves first and how the start cells are drawn. Here the monster (player 0) moves first,
    since only its moves can end the game, and the start is uniform over the ordered pairs of distinct cells.
    """

    name = "pam"
    rows: int = 2
    columns: int = 2
    horizon: int = 4  # moves of both players together

    def __post_init__(self) -> None:
        require_whole(self.name, "rows", self.rows, 1, 20)
        require_whole(self.name, "columns", self.columns, 1, 20)
        require_whole(self.name, "horizon", self.horizon, 1, 100)
        if self.rows * self.columns < 2:
            raise FogplayError("pam: rows and columns must make at least two cells, such as pam(rows=1,columns=2)")

    @functools.cached_property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """For each cell the cell in each direction, -1 beyond a wall; cells are numbered row by row."""
        return tuple(tuple(self._beside(cell, *step) for step in STEPS) for cell in range(self.rows * self.columns))

    def _beside(self, cell: int, down: int, right: int) -> int:
        row, column = cell // self.columns + down, cell % self.columns + right
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return row * self.columns + column if inside else -1

    @functools.cached_property
    def actions(self) -> tuple[tuple[int, ...], ...]:
        """For each cell the directions in which there is no wall."""
        return tuple(
            tuple(direction for direction, target in enumerate(targets) if target >= 0) for targets in self.targets
        )

    @functools.cached_property
    def starts(self) -> tuple[tuple[int, float], ...]:
        """The ordered pairs of distinct cells; a pair's number is monster * cells + princess."""
        cells = self.rows * self.columns
        probability = 1 / (cells * (cells - 1))
        return tuple((pair, probability) for pair in range(cells * cells) if pair // cells != pair % cells)

    def cell_to_string(self, cell: int) -> str:
        return f"{cell // self.columns + 1},{cell % self.columns + 1}"

    def num_distinct_actions(self) -> int:
        return 1 + max(map(max, filter(None, self.actions)))

    def new_initial_state(self) -> PrincessAndMonsterState:
        return PrincessAndMonsterState(self, 0, 0, "", "", 0, CHANCE)


class PrincessAndMonsterState(State):
    """Both positions, both paths as text (all that each player knows), the number of moves, and who moves."""

    __slots__ = ("game", "monster", "monster_path", "moves", "player", "princess", "princess_path")

    def __init__(
        self,
        game: PrincessAndMonster,
        monster: int,
        princess: int,
        monster_path: str,
        princess_path: str,
        moves: int,
        player: int,
    ) -> None:
        self.game = game
        self.monster = monster
        self.princess = princess
        self.monster_path = monster_path
        self.princess_path = princess_path
        self.moves = moves
        self.player = player

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        return self.game.actions[self.princess if self.player else self.monster]

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        return self.game.starts

    def child(self, action: int) -> PrincessAndMonsterState:
        """Only a move of the monster captures: if the princess enters the monster's cell, nobody notices."""
        game, moves = self.game, self.moves + 1
        if self.player == CHANCE:
            return self._after_start(*divmod(action, game.rows * game.columns))
        if self.player == PRINCESS:
            princess = game.targets[self.princess][action]
            path = self.princess_path + LETTERS[action]
            player = MONSTER if moves < game.horizon else TERMINAL
            return PrincessAndMonsterState(game, self.monster, princess, self.monster_path, path, moves, player)
        monster = game.targets[self.monster][action]
        path = self.monster_path + LETTERS[action]
        player = PRINCESS if monster != self.princess and moves < game.horizon else TERMINAL
        return PrincessAndMonsterState(game, monster, self.princess, path, self.princess_path, moves, player)

    def _after_start(self, monster: int, princess: int) -> PrincessAndMonsterState:
        paths = f"monster {self.game.cell_to_string(monster)}:", f"princess {self.game.cell_to_string(princess)}:"
        return PrincessAndMonsterState(self.game, monster, princess, *paths, 0, MONSTER)

    def information_state_string(self, player: int) -> str:
        return self.princess_path if player else self.monster_path

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            monster, princess = divmod(action, self.game.rows * self.game.columns)
            return f"start {self.game.cell_to_string(monster)} and {self.game.cell_to_string(princess)}"
        return DIRECTIONS[action]

    def returns(self) -> list[float]:
        """The number of moves without capture; the capturing move does not count as survived."""
        captured = self.moves % 2 == 1 and self.monster == self.princess  # the monster made the odd moves
        survived = float(self.moves - captured)
        return [-survived, survived]

    def __str__(self) -> str:
        return f"{self.monster_path}|{self.princess_path}"
