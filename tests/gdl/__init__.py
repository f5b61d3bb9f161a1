"""Tests of rule sheets."""
