"""The Annual Computer Poker Competition's protocol, version 2.0.0: its dealer and its players.

``game`` knows the game behind the lines, ``client`` and ``dealer`` are state machines that take lines and give lines,
``sockets`` is the thin shell around them, ``replay`` checks logs.
"""
