"""Networks that learn: the only package that imports torch. Playing needs none of it (``strategies/network.py``)."""
