"""The few questions that a sampling kernel may ask of a game.

A *node* is a whole number that stands for the public part of a history, *signals* stand for what chance has dealt
(nothing for a tree, whose nodes hold everything). A *slot* is one action of one infoset, an index into the learner's
tables. A kernel asks about the node it entered last; ``advance`` alone may be given an earlier node, one on the way
from the start to the last. A game whose infosets cannot be numbered in advance answers ``key_of`` instead of
``slot_of``, and ``hashed.py`` finds their slots.
"""

from __future__ import annotations

from fogplay.dispatch import by_type


@by_type
def deal(game, rng):
    """The signals of a new episode."""


@by_type
def start(game, signals, rng):
    """The node at which the first player acts; chance's moves before it are made."""


@by_type
def is_terminal(game, node):
    """Whether the game is over at ``node``."""


@by_type
def player_of(game, node):
    """The player who acts at ``node``."""


@by_type
def num_actions(game, node):
    """How many actions there are at ``node``."""


@by_type
def slot_of(game, node, signals):
    """The first slot of the acting player's infoset."""


@by_type
def slot_to_read(game, node, signals):
    """The same, for reading only: an infoset without slots does not get any."""


@by_type
def key_of(game, node, signals):
    """A 64-bit key that identifies the acting player's infoset; never 0."""


@by_type
def name_infoset(game, node, signals):
    """Remember what ``key_of`` stands for here: the infoset has just been given slots."""


@by_type
def advance(game, node, action, signals, rng):
    """The node after ``action``, where again a player acts or the game is over; chance moves in between."""


@by_type
def payoff(game, node, signals, player):
    """The payoff of ``player`` at a terminal node."""


# ---- Games that wrap another, ``inner``, and leave most answers to it


def _deal(game, rng):
    return deal(game.inner, rng)


def _start(game, signals, rng):
    return start(game.inner, signals, rng)


def _is_terminal(game, node):
    return is_terminal(game.inner, node)


def _player_of(game, node):
    return player_of(game.inner, node)


def _num_actions(game, node):
    return num_actions(game.inner, node)


def _slot_of(game, node, signals):
    return slot_of(game.inner, node, signals)


def _key_of(game, node, signals):
    return key_of(game.inner, node, signals)


def _advance(game, node, action, signals, rng):
    return advance(game.inner, node, action, signals, rng)


def _payoff(game, node, signals, player):
    return payoff(game.inner, node, signals, player)


_OF_INNER = {
    deal: _deal, start: _start, is_terminal: _is_terminal, player_of: _player_of, num_actions: _num_actions,
    slot_of: _slot_of, key_of: _key_of, advance: _advance, payoff: _payoff,
}  # fmt: skip


def forward(kind, *asked):
    """Let the inner game answer these questions about games of a ``kind`` that wraps another."""
    for question in asked:
        question.register(kind)(_OF_INNER[question])
