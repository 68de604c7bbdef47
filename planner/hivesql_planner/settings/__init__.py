"""Settings: their names, defaults, units and meanings."""
