"""Bridges to other packages: OpenSpiel, PettingZoo and Gymnasium. Each file imports its package, and only that one.

``import fogplay.bridges.openspiel``, ``…pettingzoo`` or ``…gymnasium``; fogplay itself needs none of them.
"""
