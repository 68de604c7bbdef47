"""Reading what ``sys`` and ``information_schema`` show of the metastore."""
