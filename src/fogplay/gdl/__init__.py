"""The Game Description Language (GDL, and GDL-II with ``random`` and ``sees``): from a rule sheet to a game's states.

A sheet is read (``kif``), understood (``rules``, ``sheet``) and checked (``checks``). It is then played by one of two
machines that answer the same questions (``machine``): the interpreter, which follows the rules as they are written, and
the network, which is made of the rules' ground instances (``grounding``, ``gates``, ``network``).
"""
