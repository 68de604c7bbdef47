"""Packs what ``write_older.py`` has written into an archive of this folder.

``python pack_older.py METASTORE_URL DIRECTORY ARCHIVE``. The database becomes SQL; the directory
is called PLACE in it, and in the stream's checkpoint.
"""

from __future__ import annotations

import io
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

PLACE = "/place-of-an-older-release"


def statements(url: str) -> str:
    """Dump the database as SQL, by pg_dump of PATH where it is PostgreSQL's."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
            return "\n".join(db.iterdump())
    address = url.replace("+psycopg", "")
    dump = ["pg_dump", "--inserts", "--no-owner", address]
    lines = subprocess.run(dump, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if line and not line.startswith(("--", "\\")))


def main(url: str, home: Path, archive: Path) -> None:
    """Write the archive."""
    contents = {"metastore.sql": statements(url).encode()}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home)
        # Spark's sums of files that hold the place would be wrong, and it does not miss them.
        if path.is_file() and path.suffix != ".crc" and not name.name.startswith("metastore.db"):
            contents[str(name)] = path.read_bytes()
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for member, written in contents.items():
            data = written.replace(str(home).encode(), PLACE.encode())
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
