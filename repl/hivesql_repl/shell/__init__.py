"""The interactive shell: its commands, completion, hints and settings."""
