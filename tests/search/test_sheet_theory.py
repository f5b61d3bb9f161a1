"""What theory says about rule sheets in which players are measured against flat Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

Cell = tuple[int, int]
Ships = frozenset[tuple[Cell, Cell]]  # where the ship may still be
Shots = frozenset[Cell]
CELLS = [(x, y) for x in (1, 2, 3) for y in (1, 2)]
SHIPS: Ships = frozenset([((x, 1), (x, 2)) for x in (1, 2, 3)] + [((x, y), (x + 1, y)) for y in (1, 2) for x in (1, 2)])


def after(ships: Ships, shots: Shots, cell: Cell) -> list[Ships]:
    """Where the ship may be after a hit that does not sink it, and after a miss."""
    afloat = frozenset(ship for ship in ships if not {*ship} <= shots | {cell})
    return [frozenset(ship for ship in afloat if (cell in ship) == hit) for hit in (True, False)]


@cache
def fewest(ships: Ships, shots: Shots) -> int:
    """The shots that are needed at least, summed over all places of the ship."""
    if not ships:
        return 0
    free = [cell for cell in CELLS if cell not in shots]
    return min(len(ships) + sum(fewest(each, shots | {cell}) for each in after(ships, shots, cell)) for cell in free)


def flat(ships: Ships, shots: Shots) -> list[Cell]:
    """The cells after which random shots sink the ship soonest, as flat Monte Carlo finds them."""
    free = [cell for cell in CELLS if cell not in shots]

    def remaining(cell: Cell) -> Fraction:
        left = [len({*ship} - shots - {cell}) for ship in ships]
        return sum((Fraction(count * len(free), count + 1) for count in left), Fraction(0))

    soonest = min(map(remaining, free))
    return [cell for cell in free if remaining(cell) == soonest]


def needed(ships: Ships, shots: Shots, choose: Callable[[Ships, Shots], list[Cell]]) -> Fraction:
    """The shots that a player needs, summed over all places of the ship; equal choices are made at random."""
    if not ships:
        return Fraction(0)
    cells = choose(ships, shots)
    rest = [needed(each, shots | {cell}, choose) for cell in cells for each in after(ships, shots, cell)]
    return len(ships) + sum(rest, Fraction(0)) / len(cells)


def test_flat_monte_carlo_cannot_be_outgunned_in_battleship() -> None:
    """It needs 25/7 shots on average, and nobody needs fewer; random shots need 14/3, wherever the ship is."""
    everything: Shots = frozenset()
    assert needed(SHIPS, everything, flat) == fewest(SHIPS, everything) == 25
    assert needed(
        SHIPS, everything, lambda ships, shots: [each for each in CELLS if each not in shots]
    ) == 7 * Fraction(14, 3)
