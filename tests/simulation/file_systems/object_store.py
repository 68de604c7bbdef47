"""An object store: each request is a point, and is carried out whole or not at all.

There are no directories and no renames: a move copies each object and deletes it. A list shows all
that was put before it. A file is put where there is none of its name, or uploaded by a task and
there once somebody completes the upload; an upload that nobody completes waits for ever, also one
that a late attempt begins to a place where another's has been completed. As by
Hadoop's S3A, a marker of its directory may stay where the last file was deleted by itself. Objects
are files below a directory of this machine, where whoever compares what is there may look at them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hivesql_executor.files.identity import identity_of
from hivesql_executor.files.uploads import Upload
from hivesql_planner.acid.layout import MARKERS, is_hidden
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import DataError, ExecutionError
from simulation.scheduler import Scheduler

T = TypeVar("T")
_TOLD_WHOLE = 0.5
"""Of all files, how many are small."""
_LATE = 0.2
"""Of all uploads that are completed, after how many a second attempt begins one of its own."""
_MARKED = 0.5
"""Of all directories that lose their last file, how many leave a marker."""


class SimulatedStore:
    """The Files protocol, and the Uploads protocol, over objects below a directory."""

    has_directories = False
    syncs = False
    most_small = 100
    most_at_once = 1
    """Requests of one client come in an order that a seed decides."""

    def __init__(self, scheduler: Scheduler, root: Path) -> None:
        self._scheduler, self._root = scheduler, root
        self._begun: dict[tuple[str, str], bytes] = {}
        self._markers: set[str] = set()
        self._count = 0
        self._refusing: dict[str, float] = {}
        """Until when all requests of a client are refused; of everybody under ''."""
        self._undone: dict[str, float] = {}
        """Objects whose deletion was told, and when it is done."""

    # -- uploads
    def uploads(self, location: str) -> SimulatedStore:
        """Tasks upload everywhere."""
        return self

    left_uploads = uploads

    def begin(self, path: str, data: bytes) -> Upload:
        """What a task does: upload a file to a path, all of it; what tells the upload from others.

        It stays when whoever asked dies. Some files are told whole, and are nowhere yet.
        """
        if data and self._happens(_TOLD_WHOLE, f"whole {path}"):
            return data

        def work() -> str:
            self._count += 1
            word = f"upload-{self._count}"
            self._begun[path, word] = data
            return word

        return self._ask("upload", path, work)

    def complete(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Let files be seen, each by a request."""
        for path, word in uploaded:
            if isinstance(word, bytes):
                self.write(path, word)
            else:
                self._ask("complete", path, lambda path=path, word=word: self._complete(path, word))

    def _complete(self, path: str, word: str) -> None:
        if (path, word) not in self._begun:
            raise ExecutionError(f"there is no such upload to {path}. Run the statement again")
        data = self._begun.pop((path, word))
        self._put(path, data)
        if self._happens(_LATE, f"late {path}"):
            # Which Spark has given up, as it did not need it any more.
            self._count += 1
            self._begun[path, f"upload-{self._count}"] = data

    def abort(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Give up what is not completed."""
        for pair in [pair for pair in uploaded if not isinstance(pair[1], bytes)]:
            self._ask("give up", pair[0], lambda pair=pair: self._begun.pop(pair, None))

    def waiting(self, location: str) -> list[tuple[str, str]]:
        """Uploads below a location that are neither completed nor given up."""
        return self._ask("uploads", location, lambda: self.all_waiting(f"{location}/"))

    def all_waiting(self, above: str = "") -> list[tuple[str, str]]:
        """The same of all paths that begin so, for whoever compares; no request."""
        return sorted(pair for pair in self._begun if pair[0].startswith(above))

    def all_markers(self) -> list[str]:
        """Markers of directories in which there is nothing, for whoever compares; no request."""
        return sorted(path for path in self._markers if not self._below(path))

    # -- looking
    def require(self, location: str) -> None:
        """The client is here."""

    def list_many(self, location: str, directories: Sequence[str]) -> dict[str, Any]:
        """Each is listed by itself."""
        return {}

    def contents(self, location: str, directories: Sequence[str]) -> dict[str, list[str]]:
        """All objects below directories, where no marker is."""
        below = {
            path: self._ask("list", path, lambda path=path: self._below(path))
            for path in directories
        }
        return {
            path: [*found]
            for path, found in below.items()
            if not ({path} & self._markers or self._marked(path))
        }

    def top(self, location: str, before: object = None) -> None:
        """One request lists all."""

    def list(self, location: str) -> tuple[FileStatus, ...]:
        """Every object below a directory."""
        shown = [
            FileStatus(path, len(data), _identity(data))
            for path, data in self._ask("list", location, lambda: self._below(location)).items()
            if not any(is_hidden(name) and name not in MARKERS for name in path.split("/"))
        ]
        return tuple(sorted(shown))

    def all_directories(self, location: str) -> tuple[str, ...]:
        """First parts of the names of objects further below."""
        found = self._ask("list", location, lambda: self._below(location))
        marked = [f"{path.removeprefix(f'{location}/')}/" for path in self._marked(location)]
        return tuple(sorted({path.partition("/")[0] for path in (*found, *marked) if "/" in path}))

    def directories(self, location: str) -> tuple[str, ...]:
        """Those that are not hidden."""
        return tuple(name for name in self.all_directories(location) if not is_hidden(name))

    def survey(self, location: str) -> tuple[tuple[FileStatus, ...], tuple[str, ...]]:
        """Both."""
        return self.list(location), self.all_directories(location)

    def exists(self, path: str) -> bool:
        """Whether there is an object of that name, or below it."""
        return self._ask("look", path, lambda: Path(path).is_file() or bool(self._below(path)))

    def is_file(self, path: str) -> bool:
        """Whether there is an object of that name."""
        return self._ask("head", path, Path(path).is_file)

    def size(self, path: str) -> int:
        """Its length."""
        return len(self._ask("head", path, lambda: _read(path)))

    def modified(self, path: str) -> int:
        """A number of its contents."""
        return _identity(self._ask("head", path, lambda: _read(path)))

    def read(self, path: str, offset: int, length: int) -> bytes:
        """A range of it."""
        return self._ask("get", path, lambda: _read(path))[offset : offset + length]

    # -- changing
    def sync(self, paths: Sequence[str]) -> None:
        """Nothing."""

    def make_directories(self, path: str) -> None:
        """Nothing."""

    def remove_if_empty(self, path: str) -> None:
        """Remove its marker."""
        if path in self._markers:
            self._ask("unmark", path, lambda: self._markers.discard(path))

    def write(self, path: str, data: bytes) -> None:
        """Put an object where there is none."""
        self._ask("put", path, lambda: self._put_new(path, data))

    def _put_new(self, path: str, data: bytes) -> None:
        if Path(path).exists():
            raise ExecutionError(f"{path} exists already, and was not written over")
        self._put(path, data)

    def rename(self, source: str, target: str) -> None:
        """Copy each object and delete all."""
        if self.exists(target):
            raise ExecutionError(f"{target} exists already; {source} was not moved over it")
        is_one = Path(source).is_file()
        names = [""] if is_one else [f"/{path}" for path in sorted(self._below(source))]
        self._copy_each([(source + name, target + name) for name in names])
        self._delete([source + name for name in names])

    def bring(self, source: str, target: str) -> int:
        """Move a file; its number."""
        modified = self.modified(source)
        if self._ask("head", target, lambda: Path(target).is_file()):
            raise ExecutionError(f"{target} exists already; {source} was not moved over it")
        self._copy_each([(source, target)])
        self._delete([source])
        return modified

    def hide(self, location: str, listed: Sequence[FileStatus], hidden: str) -> None:
        """Copy objects to where none are, then delete the first at once."""
        paths = [status.path for status in listed]
        self._copy_each([(f"{location}/{path}", f"{hidden}/{path}") for path in paths])
        self._delete([f"{location}/{path}" for path in paths])

    def _copy_each(self, pairs: Sequence[tuple[str, str]]) -> None:
        for old, new in pairs:
            self._ask("copy", old, lambda old=old, new=new: self._put(new, _read(old)))

    def copy(self, source: str, target: str) -> None:
        """Put what a file has where there is none."""
        self.write(target, Path(source).read_bytes())

    def delete(self, path: str) -> None:
        """Remove an object and all below it."""
        found = self._ask("list", path, lambda: self._below(path))
        home = path.rpartition("/")[0]
        is_last = Path(path).is_file() and len(self._below(home)) == 1
        self._delete([*(f"{path}/{name}" for name in found), path])
        self._markers.difference_update(self._marked(path), [path])
        if is_last and self._happens(_MARKED, f"marked {path}"):
            self._markers.add(home)

    def delete_below(
        self, location: str, names: Sequence[str], listing: Sequence[FileStatus] | None = None
    ) -> None:
        """Remove objects and whole directories of a directory."""
        if listing is None:
            found = [*self._ask("list", location, lambda: self._below(location))]
        else:
            found = [status.path for status in listing]
        inner = tuple(f"{name}/" for name in names)
        doomed = [path for path in found if path in names or path.startswith(inner)]
        if doomed:
            self._delete([f"{location}/{path}" for path in doomed])
        for name in names:
            self._markers.difference_update(
                self._marked(f"{location}/{name}"), [f"{location}/{name}"]
            )

    def delete_each(self, paths: Sequence[str]) -> None:
        """Remove objects by one request."""
        if paths:
            self._delete(paths)

    def replace_tail(self, path: str, offset: int, data: bytes) -> None:
        """Put it again with another end."""
        self._ask("put", path, lambda: self._put(path, _read(path)[:offset] + data))

    # -- inside
    def _happens(self, share: float, label: str) -> bool:
        """Tell by the case's seed, wherever the objects lie on this machine."""
        return self._scheduler.chance(label.replace(str(self._root), "")).random() < share

    def _ask(self, word: str, path: str, work: Callable[[], T]) -> T:
        """Make a request: what is refused is not done, what is broken is, and told otherwise."""
        short = path.removeprefix(str(self._root))
        fault = self._scheduler.point("file", f"{word} {short}")
        client = self._scheduler.current
        if client is not None and fault is not None and fault.kind in ("throttled", "expired"):
            name = "" if fault.kind == "throttled" else client.name
            self._refusing[name] = self._scheduler.now + fault.seconds
        with self._scheduler.unseen():
            self._delete_late()
            names = ("", client.name) if client is not None else ()
            if any(self._refusing.get(name, 0.0) > self._scheduler.now for name in names):
                raise ExecutionError(f"the store takes no request to {word} {short}. Run it again")
            if fault is not None and fault.kind == "undone":
                return self._not_yet(fault.seconds, work)
            if fault is not None and fault.kind != "broken":
                raise ExecutionError(f"the store refused to {word} {short}. Run it again")
            answer = work()
        if fault is not None:
            raise ExecutionError(f"the store did not say what became of {word} {short}")
        return answer

    def _not_yet(self, seconds: float, work: Callable[[], T]) -> T:
        """Carry a request out, and let what it deleted be there for some time."""
        before = {str(path): path.read_bytes() for path in self._root.rglob("*") if path.is_file()}
        answer = work()
        for path in [path for path in before if not Path(path).exists()]:
            self._put(path, before[path])
            self._undone[path] = self._scheduler.now + seconds
        return answer

    def _delete_late(self) -> None:
        due = [path for path, when in self._undone.items() if when <= self._scheduler.now]
        for path in due:
            del self._undone[path]
        self._remove(due)

    def _below(self, location: str) -> dict[str, bytes]:
        """All objects by their paths below a directory, hidden ones too."""
        home = Path(location)
        return {
            str(path.relative_to(home)): path.read_bytes()
            for path in sorted(home.rglob("*"))
            if path.is_file()
        }

    def _marked(self, location: str) -> list[str]:
        """Markers below a directory."""
        return [path for path in self._markers if path.startswith(f"{location}/")]

    def _put(self, path: str, data: bytes) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)

    def _delete(self, paths: Sequence[str]) -> None:
        self._ask("delete", paths[0], lambda: self._remove(paths))

    def _remove(self, paths: Sequence[str]) -> None:
        for path in map(Path, paths):
            path.unlink(missing_ok=True) if not path.is_dir() else None
            for home in path.parents if not path.is_dir() else (path, *path.parents):
                if home == self._root or not home.is_dir() or any(home.iterdir()):
                    break
                home.rmdir()


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise DataError(f"{path} is missing") from error


def _identity(data: bytes) -> int:
    return identity_of(hashlib.md5(data).hexdigest())
