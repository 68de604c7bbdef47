"""Statements so small that Spark is not needed: told from the plan's own SQL text.

What is understood here means exactly what it means in Spark; whatever else stands in the text, the
answer is None, and Spark carries the statement out.
"""
