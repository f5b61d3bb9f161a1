"""Games as arrays: the tree, how it is built from rules, and its sequence form."""

from fogplay.trees.checks import NoTreeError
from fogplay.trees.flatten import flatten, named
from fogplay.trees.limits import TooLargeError
from fogplay.trees.sequences import SequenceForm
from fogplay.trees.tree import FlatGame, Tree

__all__ = ["FlatGame", "NoTreeError", "SequenceForm", "TooLargeError", "Tree", "flatten", "named"]
