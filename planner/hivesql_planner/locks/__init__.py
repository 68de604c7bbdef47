"""Which locks a statement asks for, which stand in the way of others, and deadlocks among them."""
