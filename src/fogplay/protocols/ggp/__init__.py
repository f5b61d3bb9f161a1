"""General game playing over HTTP: a player that servers can ask, and a host that asks players.

``messages`` is the language, ``beliefs`` what a role knows of a match, ``player`` and ``host`` are state machines
without sockets, and ``http`` is the shell around both.
"""
