"""The Annual Computer Poker Competition's protocol, version 2.0.0: its dealer and its players.

``game`` holds the game behind the lines, ``client`` and ``dealer`` are state machines that take and return lines,
``sockets`` connects them to the network, and ``replay`` checks logs.
"""
