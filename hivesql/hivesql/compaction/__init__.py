"""Compactions that a process of their own does."""
