"""Statements so small that Spark is not needed: told from what their expressions mean.

What is understood here means exactly what it means in Spark; whatever else a statement says, the
answer is None, and Spark carries the statement out.
"""
