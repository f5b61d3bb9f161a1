"""Compiled code only: one file an algorithm."""
