"""Drawings as SVG text: what a seat sees of a table, strategies, trees and charts; for pages, notebooks and docs."""

from fogplay.pictures.bars import draw_bars
from fogplay.pictures.cards import Card
from fogplay.pictures.notebook import as_facts, as_table, game_as_html
from fogplay.pictures.picture import draw_sight, register_picture, scene_for
from fogplay.pictures.scene import Place, Scene, draw_scene
from fogplay.pictures.sight import Sight, sight_of
from fogplay.pictures.svg import Picture

__all__ = [
    "Card",
    "Picture",
    "Place",
    "Scene",
    "Sight",
    "as_facts",
    "as_table",
    "draw_bars",
    "draw_scene",
    "draw_sight",
    "game_as_html",
    "register_picture",
    "scene_for",
    "sight_of",
]
