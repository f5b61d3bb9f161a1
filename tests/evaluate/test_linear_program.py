from __future__ import annotations

import pyspiel
import pytest

from fogplay import FogplayError, solve
from fogplay.evaluate import equilibrium, measure
from fogplay.trees import flatten


@pytest.mark.parametrize(
    ("spec", "value", "infosets"),
    [
        ("kuhn", -1 / 18, 12),
        ("leduc", -0.0856064, 936),
        ("bluff(1,1,6)", -0.02713, 24_576),
        ("rps", 50.0, 2),
        ("biased-rps", 50.0, 2),
        ("two-by-two", 50.0, 2),
        ("goofspiel(cards=4)", 0.0, 162),
    ],
)
def test_known_values(spec: str, value: float, infosets: int) -> None:
    flat = flatten(spec)
    found, probabilities = equilibrium(flat)
    assert flat.num_infosets == infosets
    assert found == pytest.approx(value, abs=5e-6 if spec != "leduc" else 5e-8)
    quality = measure(flat, probabilities)
    assert quality.values[0] == pytest.approx(found, abs=1e-9)
    assert quality.nash_conv == pytest.approx(0, abs=1e-8)


def test_the_papers_mixed_equilibria() -> None:
    biased = solve("biased-rps", "lp").strategy
    assert list(biased[biased.infosets[0]].values()) == pytest.approx([0.0625, 0.625, 0.3125])
    simple = solve("two-by-two", "lp").strategy
    assert list(simple[simple.infosets[0]].values()) == pytest.approx([0.46, 0.54])
    assert list(simple[simple.infosets[1]].values()) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("spec", "theirs"),
    [
        ("goofspiel(cards=3)", "goofspiel(num_cards=3,points_order=descending,imp_info=True,returns_type=win_loss)"),
        ("goofspiel(cards=4)", "goofspiel(num_cards=4,points_order=descending,imp_info=True,returns_type=win_loss)"),
        ("bluff(1,1,3)", "liars_dice(dice_sides=3)"),
        ("kuhn", "kuhn_poker"),
        ("leduc", "leduc_poker"),
    ],
)
def test_open_spiels_games_have_the_same_value(spec: str, theirs: str) -> None:
    game = pyspiel.load_game(theirs)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    assert equilibrium(flatten(spec))[0] == pytest.approx(equilibrium(flatten(game))[0], abs=1e-9)


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(FogplayError, match="3 players: try -a cfr"):
        solve("kuhn(players=3)", "lp")
