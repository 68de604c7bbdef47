"""Parsed statements whose names are not bound yet."""
