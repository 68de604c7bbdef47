"""Rewrites of bound statements into plans."""
