"""The one exception that means "the user can mend this"."""


class FogplayError(ValueError):
    """A mistake in what was asked for: one line that says what was wrong, what was expected, what to type instead.

    The command line prints the line and exits with 2; from Python it is an ordinary ``ValueError``.
    """
