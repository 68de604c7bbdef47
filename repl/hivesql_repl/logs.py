"""`--log-format json`: what a command tells beside its rows, as lines of JSON."""

from __future__ import annotations

import argparse
import logging
import sys

from hivesql_executor.statement_log import LEVELS, LOG, JsonLines, TextLines

JSON = "json"
_TEXT = "%(asctime)s %(levelname)s %(message)s"


def add_log_format(parser: argparse.ArgumentParser) -> None:
    """Give a command the option."""
    parser.add_argument(
        "--log-format",
        choices=("text", JSON),
        default="text",
        help="of lines on standard error; json: each a JSON object with the statement's id "
        "(default: text)",
    )


def log_as_json(*, quiet: bool = False) -> None:
    """Write what is logged to standard error as JSON; ``quiet`` leaves warnings and errors."""
    _write_by(JsonLines())
    logging.captureWarnings(capture=True)
    LOG.setLevel(logging.WARNING if quiet else logging.INFO)


def log_as_text() -> None:
    """Write warnings and errors to standard error, each with its statement's id."""
    _write_by(TextLines(_TEXT))


def _write_by(formatter: logging.Formatter) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    LEVELS.failure = logging.ERROR
