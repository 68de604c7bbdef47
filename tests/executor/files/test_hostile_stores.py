"""What answers at an S3 endpoint and is no object store, or says what makes no sense."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from hivesql_executor.files.stores.s3_uploads import S3Uploads
from hivesql_executor.files.stores.store import StoreFiles
from hivesql_planner.errors import ExecutionError, HiveSqlError
from hivesql_planner.settings.s3_access import S3Access
from hostile_servers import Talk, drips, listening, pours, says, says_nothing

PLACE = "s3a://b/t"


def answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


HOSTILE = {
    "nothing": says_nothing,
    "drips": drips(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"),
    "garbage": says(b"\0\1\2garbage"),
    "a page": says(answer(b"<html><body>Log in</body></html>")),
    "no body": says(answer(b"")),
    "a page for what is not there": says(answer(b"<html>404</html>", b"404 Not Found")),
    "elsewhere": says(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
}
ASKED: dict[str, Callable[[StoreFiles], Any]] = {
    "list": lambda files: files.list(PLACE),
    "directories": lambda files: files.directories(PLACE),
    "size": lambda files: files.size(f"{PLACE}/x"),
    "read": lambda files: files.read(f"{PLACE}/x", 0, 100),
    "write": lambda files: files.write(f"{PLACE}/x", b"row"),
    "delete": lambda files: files.delete(PLACE),
}


def files_at(port: int) -> StoreFiles:
    access = S3Access(
        bucket="b", region="us-east-1", endpoint=f"http://127.0.0.1:{port}/b", is_in_path=True,
        keys=("key", "secret", None), retries=0, pause=0.01, timeout=0.5, connect_timeout=0.5,
    )  # fmt: skip

    def no_spark() -> Any:
        raise AssertionError("Spark is not asked")

    def nowhere(place: str) -> Any:
        raise AssertionError(f"{place} is elsewhere")

    return StoreFiles(no_spark, access, "s3a://b", nowhere)


@pytest.mark.parametrize("talk", HOSTILE.values(), ids=HOSTILE)
def test_nothing_is_made_of_such_answers(talk: Talk) -> None:
    with listening() as start:
        files = files_at(start(talk))
        for question, ask in ASKED.items():
            with pytest.raises(HiveSqlError, match=r"cannot be reached|is missing") as raised:
                ask(files)
            assert "\n" not in str(raised.value), question


def test_a_page_is_no_empty_directory() -> None:
    """A list of which nothing is understood looks as one without files."""
    by_kind = {
        b"GET /b?": answer(b"<html><body>Welcome</body></html>"),
        b"GET /b/": answer(b"<html>404</html>", b"404 Not Found"),
    }

    def talk(stream: Any, ended: Any) -> None:
        while head := stream.recv(65536):
            path = head.replace(b"/b/b", b"/b")
            stream.sendall(next(text for start, text in by_kind.items() if path.startswith(start)))

    with listening() as start:
        files = files_at(start(talk))
        for ask in (files.list, files.exists, files.all_directories):
            with pytest.raises(ExecutionError, match=r"does not speak S3.*Correct fs\.s3a\."):
                ask(PLACE)


HEAD = b'HTTP/1.1 206 OK\r\nETag: "e"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n'
PIECE = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
ENDLESS = {
    # What is said of the length is kept by nobody.
    "in pieces": pours(
        HEAD + b"Content-Range: bytes 0-99/200\r\nTransfer-Encoding: chunked\r\n\r\n", PIECE
    ),
    "until it closes": pours(
        HEAD + b"Content-Range: bytes 0-99/200\r\nConnection: close\r\n\r\n", PIECE
    ),
    "a long one": pours(
        HEAD + b"Content-Range: bytes 0-99/200\r\nContent-Length: 99999999999\r\n\r\n", PIECE
    ),
}
MOST_MEMORY = 64 << 20


@pytest.mark.parametrize("talk", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_answer_fills_no_memory(talk: Talk) -> None:
    """Of a file, and of uploads; both end by an error."""
    with listening() as start:
        files = files_at(start(talk))
        uploads = S3Uploads(files.access)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for ask in (lambda: files.read(f"{PLACE}/x", 0, 100), lambda: uploads.waiting(PLACE)):
            with pytest.raises(ExecutionError, match="cannot be reached"):
                ask()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown * 1024 < MOST_MEMORY


ONE_FILE = b"""<ListBucketResult><Name>b</Name><IsTruncated>true</IsTruncated>
<NextContinuationToken>again</NextContinuationToken>
<Contents><Key>t/x</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>"e"</ETag>
<Size>3</Size></Contents></ListBucketResult>"""
ONE_UPLOAD = b"""<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>
<NextKeyMarker>t/x</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>
<Upload><Key>t/x</Key><UploadId>u</UploadId></Upload></ListMultipartUploadsResult>"""


@pytest.mark.parametrize("kind", ["files", "uploads", "a tree to remove"])
def test_a_page_that_comes_again_ends_the_list(kind: str) -> None:
    """Each page says that there is one more, which is the same."""
    page = ONE_UPLOAD if kind == "uploads" else ONE_FILE
    with listening() as start:
        files = files_at(start(says(answer(page))))
        with pytest.raises(ExecutionError, match=r"names t/x again and again.*Look for a proxy"):
            if kind == "uploads":
                S3Uploads(files.access).waiting(PLACE)
            elif kind == "files":
                files.list(PLACE)
            else:
                files.delete(PLACE)


NO_FILE = ONE_FILE.partition(b"<Contents>")[0] + b"</ListBucketResult>"
ONE_DIRECTORY = NO_FILE.replace(
    b"</ListBucketResult>",
    b"<CommonPrefixes><Prefix>t/p=1/</Prefix></CommonPrefixes></ListBucketResult>",
)
LISTS: dict[str, Callable[[StoreFiles], Any]] = {
    "files": lambda files: files.list(PLACE),
    "directories": lambda files: files.all_directories(PLACE),
    "both": lambda files: files.survey(PLACE),
    "a look": lambda files: files.exists(PLACE),
    "a tree to remove": lambda files: files.delete(PLACE),
    "a tree to move": lambda files: files.rename(PLACE, f"{PLACE}2"),
}


@pytest.mark.parametrize("ask", LISTS.values(), ids=LISTS)
def test_pages_without_anything_end_the_list(ask: Callable[[StoreFiles], Any]) -> None:
    """There is always one more, and nobody goes on asking for it when the error was told."""
    asked: list[bytes] = []

    def talk(stream: Any, ended: Any) -> None:
        while head := stream.recv(65536):
            asked.append(head)
            stream.sendall(answer(NO_FILE))

    with listening() as start:
        files = files_at(start(talk))
        with pytest.raises(
            ExecutionError, match=r"page after page without a name.*Look for a proxy"
        ):
            ask(files)
        before = len(asked)
        with pytest.raises(ExecutionError, match=r"page after page without a name"):
            files.list(f"{PLACE}/other")
        assert sum(head.startswith(b"GET") and b"other" not in head for head in asked[before:]) <= 1


def test_directories_whose_pages_come_again_end_the_list() -> None:
    with listening() as start:
        files = files_at(start(says(answer(ONE_DIRECTORY))))
        with pytest.raises(ExecutionError, match=r"page after page without a name"):
            files.all_directories(PLACE)


CUT_AFTER = 1000


def _page(names: list[str], what: bytes) -> bytes:
    """A full page that says that there is more, and not where."""
    is_cut = b"true" if len(names) == CUT_AFTER else b"false"
    return b"<ListBucketResult><Name>b</Name><IsTruncated>%s</IsTruncated>%s</ListBucketResult>" % (
        is_cut,
        b"".join(what % name.encode() for name in names),
    )


A_FILE = (
    b"<Contents><Key>%s</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>"
    b'<ETag>"e"</ETag><Size>3</Size></Contents>'
)


@pytest.mark.parametrize("knows", ["a name to begin behind", "no name to begin behind"])
def test_a_list_that_is_cut_loses_no_file(knows: str) -> None:
    """Of a store that tells no token of the next page, as it was before there were any."""
    names = [f"t/p={i:04d}/x" for i in range(1500)]

    def talk(stream: Any, ended: Any) -> None:
        while head := stream.recv(65536):
            query = parse_qs(head.split(b" ")[1].partition(b"?")[2].decode())
            after = query.get("start-after", [""])[0] if knows.startswith("a") else ""
            if "delimiter" in query:
                directories = [name.removesuffix("x") for name in names[:CUT_AFTER]]
                prefix = b"<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>"
                stream.sendall(answer(_page(directories, prefix)))
            else:
                stream.sendall(
                    answer(_page([name for name in names if name > after][:CUT_AFTER], A_FILE))
                )

    with listening() as start:
        files = files_at(start(talk))
        if knows.startswith("no"):
            for ask in (files.list, files.all_directories):
                with pytest.raises(ExecutionError, match="again and again"):
                    ask(PLACE)
            return
        assert [f"t/{status.path}" for status in files.list(PLACE)] == names
        assert [f"t/{name}/x" for name in files.all_directories(PLACE)] == names
