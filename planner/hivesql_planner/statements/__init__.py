"""Statements whose names are bound: what the planner is given."""
