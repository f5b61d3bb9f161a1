"""The actions of limit betting, and the letters that histories write for them."""

FOLD, CALL, RAISE = 0, 1, 2  # call: also check; raise: also bet
LETTERS = ("f", "c", "r")
