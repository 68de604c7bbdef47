"""ACID files written and read with Arrow, in this process: small statements and streams."""
