"""How messages come in and whose they are: bounded streams, SASL, passwords, HTTP."""
