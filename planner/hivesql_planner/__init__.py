"""Decides: pure functions over frozen values; the standard library only."""
