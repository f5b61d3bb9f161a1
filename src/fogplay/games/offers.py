"""Games that are offered to a person who has not named one, the easiest first."""

OFFERED = (
    "kuhn",
    "leduc",
    "holdem",
    "holdem(players=3)",
    "doudizhu",
    "bluff",
    "goofspiel",
    "goofspiel(cards=5,bids=revealed)",
    "ocp",
    "pam(rows=3,columns=3,horizon=8)",
    "rps",
    "two-by-two",
    "repeated",
    "tictactoe.kif",
    "phantom-tictactoe.kif",
    "montyhall.kif",
    "kuhn(players=3)",
    "leduc(players=3)",
)
