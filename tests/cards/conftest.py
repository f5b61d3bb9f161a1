"""The tables of hand strength, built once (in seconds) into the user's cache folder and shared by all these tests."""

from __future__ import annotations

import pytest

from fogplay.cards import tables


@pytest.fixture(scope="package")
def ehs2() -> tables.Tables:
    return tables.load("ehs2")


@pytest.fixture(scope="package")
def ehs() -> tables.Tables:
    return tables.load("ehs")
