"""Answers of object stores: one that has no end is an error, and a list that was cut goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from hivesql_executor.beats import answer_of
from hivesql_executor.files.refusals import (
    refusal_of_no_end,
    refusal_of_repetition,
    refusal_of_too_much,
)

Answer = TypeVar("Answer")
_MOST_ALIKE = 2
_CHUNK = 1 << 20
"""Bytes of an answer that are looked at together."""
_PAGE = 1000
"""Names on a page of a store that says nothing else."""


def list_files(store: Any, home: str, location: str, seconds: float) -> list[Any]:
    """Return all that a store lists below a place.

    A list ends by an error where pages come again, or where pages without anything on them come for
    longer than a request may take. A store of older habits ends it behind a full page, and gives no
    name of the next one: so it is asked what comes behind.
    """
    listed: list[Any] = []
    times: Counter[str] = Counter()

    async def follow(after: str | None) -> None:
        pages = aiter(store.list(home, offset=after))
        while page := await asyncio.wait_for(_next_of(pages), seconds):
            for entry in page:
                times[entry["path"]] += 1
                # A file, and what stands for a directory of its name, are called alike.
                if times[entry["path"]] > _MOST_ALIKE:
                    raise refusal_of_repetition(location, entry["path"])
                listed.append(entry)

    async def follow_all() -> None:
        await follow(None)
        known = 0
        while len(listed) > known and len(listed) % _PAGE == 0:
            known = len(listed)
            await follow(listed[-1]["path"])

    _answer_of(follow_all(), location, seconds)
    return listed


def follow_pages(
    store: Any,
    home: str,
    after: str,
    location: str,
    seconds: float,
    take: Callable[[Sequence[Any]], bool],
    end: Callable[[Sequence[Any]], None],
) -> None:
    """List what a store has below a place behind a name, a full page at a time, as long as wanted.

    ``take`` is given each full page and tells whether to go on, ``end`` the last one.
    """

    async def follow() -> None:
        pages = aiter(store.list(home, offset=after, chunk_size=_PAGE))
        page = await asyncio.wait_for(_next_of(pages), seconds)
        if page is None:
            # Nothing is there. Behind a full page that is no proof: a store may have cut its list.
            end(())
        while page:
            if len(page) < _PAGE:
                end(page)
                return
            if not take(page):
                return
            page = await asyncio.wait_for(_next_of(pages), seconds)

    _answer_of(follow(), location, seconds)


def lists_anything(store: Any, home: str, location: str, seconds: float) -> bool:
    """Tell whether a store lists anything below a place, or what stands for the place."""

    async def ask() -> bool:
        pages = aiter(store.list(home, chunk_size=1))
        return bool(await asyncio.wait_for(_next_of(pages), seconds))

    return _answer_of(ask(), location, seconds)


def list_directories(store: Any, home: str, location: str, seconds: float) -> list[str]:
    """Return the names right below a place that have something below them.

    All of it may take as long as a request.
    """

    async def ask() -> Any:
        return await asyncio.wait_for(store.list_with_delimiter_async(home), seconds)

    answer = _answer_of(ask(), location, seconds)
    names = {str(path).rpartition("/")[2] for path in answer["common_prefixes"]}
    if (count := len(names) + len(answer["objects"])) and count % _PAGE == 0:
        above = f"{home}/"
        paths = (entry["path"] for entry in list_files(store, home, location, seconds))
        below = (path.removeprefix(above) for path in paths if path.startswith(above))
        names |= {path.partition("/")[0] for path in below if "/" in path}
    return sorted(names)


def read_range(store: Any, key: str, path: str, offset: int, length: int) -> bytes:
    """Return a range of a file, of an answer that may be longer."""

    def read() -> bytes:
        answer = store.get(key, options={"range": (offset, offset + length)})
        parts, count = [], 0
        for part in answer.stream(min_chunk_size=_CHUNK):
            parts.append(bytes(part))
            count += len(parts[-1])
            if count > length:
                raise refusal_of_too_much(path, length)
        return b"".join(parts)

    return answer_of(read, path)


async def _next_of(pages: Any) -> Any:
    return await anext(pages, None)


def _answer_of(asking: Coroutine[Any, Any, Answer], location: str, seconds: float) -> Answer:
    """Wait for an answer, where the thread itself may be one that waits so."""
    try:
        return answer_of(lambda: asyncio.run(asking), location)
    except asyncio.TimeoutError as error:
        raise refusal_of_no_end(location, seconds) from error
