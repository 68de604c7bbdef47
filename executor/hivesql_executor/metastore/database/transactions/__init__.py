"""Transactions, write ids, locks and files to move as rows of the metastore."""
