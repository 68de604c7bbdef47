"""From a database URL and a directory to a session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from hivesql.hints.places import unheeded_places
from hivesql.session import Session
from hivesql.sessions.hive_site import METASTORE_ADDRESSES, site_settings
from hivesql.sessions.settings import unheeded_notice
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.files.locations import complete_location, require_below_root
from hivesql_executor.hadoop_user import hadoop_user
from hivesql_executor.metastore.cache.shelf import Limits
from hivesql_executor.metastore.opening import SQLITE, THRIFT, open_metastore
from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import log_notice, without_failures
from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.settings.connection_keys import PROXY_USER
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, is_secret, spark_name
from hivesql_planner.settings.settings import (
    AUTHORIZATION,
    AUTHORIZATION_MANAGER,
    KEYS,
    Settings,
    notice_about,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.files.api import Files
    from hivesql_executor.metastore.api import Metastore
    from hivesql_executor.metastore.database.catalog.relocation import Relocated
    from hivesql_executor.metastore.hms.access.transports import Access

DEFAULT_METASTORE = "sqlite:///metastore.db"
DEFAULT_WAREHOUSE = "warehouse"
_LONGEST_WAIT = 20 * 86_400.0
"""Seconds that a system can still wait for a socket."""
_ELSEWHERE = (
    ": one that is elsewhere is named by --metastore, or for good in the configuration file"
)


@translate_errors
def connect(
    metastore: str | None = None,
    warehouse: str | PathLike[str] | None = None,
    *,
    spark: SparkSession | None = None,
    settings: Mapping[str, str | float] | None = None,
    database: str = "default",
    notify: Callable[[str], None] | None = None,
    idempotency_key: str | None = None,
    user: str | None = None,
) -> Session:
    """Open a session on a warehouse.

    ``metastore`` is a database URL (``sqlite:///path``, ``postgresql://user@host/database``,
    ``mysql://user@host/database`` for MariaDB), or the address of a Hive Metastore
    (``thrift://host:9083``); without it the setting ``hive.metastore.uris`` counts, and then
    ``sqlite:///metastore.db`` in the working directory. ``warehouse`` is the directory or URI of
    managed tables of a metastore that is made (default ``warehouse``); one that is there has its
    own. ``spark`` is a session to work beside; without it a local Spark starts when it is first
    needed. Keys of ``settings`` that start with ``spark.`` go to Spark, and so do those of Hadoop's
    file systems (``fs.s3a.…``).
    Settings that are not given are those of the site's hive-site.xml, in HIVE_CONF_DIR or in
    HIVE_HOME's ``conf``, and of Hadoop's core-site.xml. Under an ``idempotency_key`` the
    session's n-th statement commits at most once, in whichever process it runs: a program that was
    killed can be run again from its start. ``user`` is whose session it is: who owns what it makes,
    and whose privileges count; without it that of ``hivesql.proxy.user``, who logs in at the Hive
    Metastore, else HADOOP_USER_NAME, and then the user of the operating system. NotSupported for a
    session of Spark Connect.
    """
    _check_text("database", database)
    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise NotSupported(
            "a session of Spark Connect: its server runs no Python of ours. Give a session of this "
            "process (SparkSession.builder.master), or none"
        )
    location = complete_location(fspath(DEFAULT_WAREHOUSE if warehouse is None else warehouse))
    choices = _choose(metastore, settings or {}, user)
    lazy = LazySpark(spark, choices.spark, proxy_user=choices.proxy_user)
    print_line = log_notice if notify is None else without_failures(notify)
    access = _access(choices.address, choices.settings)
    store = _open_metastore(
        choices, location, access, print_line, hint="" if metastore else _ELSEWHERE
    )
    # Imported late: the package's own module imports this one.
    from hivesql import __version__

    try:
        runtime = Runtime(
            program=f"hivesql {__version__}",
            metastore=store,
            spark=lazy,
            files=lambda place: _files(place, lazy),
            settings=choices.settings,
            notify=print_line,
            newer_files=_newer_files,
            explain=_explain,
            user=user or choices.proxy_user or _user(access),
        )
        for notice in unheeded_places(
            store,
            metastore=metastore,
            addresses=choices.addresses,
            warehouse=None if warehouse is None else location,
        ):
            print_line(notice)
        return _open_session(runtime, lazy, database, idempotency_key, choices.set_by_user)
    except BaseException:
        store.close()
        raise


@translate_errors
def relocate_metastore(
    metastore: str | None,
    old: str,
    new: str,
    *,
    settings: Mapping[str, str | float] | None = None,
    dry_run: bool = False,
) -> Relocated:
    """Let a metastore's locations at ``old``, or below it, be at ``new``.

    No session is opened: it would look for files where they are not yet. SemanticError where there
    is no metastore, or a Hive Metastore, which has a tool of its own.
    """
    choices = _choose(metastore, settings or {}, None)
    if choices.address.startswith(THRIFT):
        raise NotSupported(
            "changing the locations of a Hive Metastore: its own tool does it, "
            "hive --service metatool -updateLocation NEW OLD"
        )
    _require_file(choices.address)
    # Imported late: a session may not need all of it.
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    store = DatabaseMetastore.open(choices.address, DEFAULT_WAREHOUSE)
    try:
        places = (complete_location(old), complete_location(new))
        return store.relocate(*map(require_below_root, places), dry_run=dry_run)
    finally:
        store.close()


@dataclass(frozen=True)
class _Choices:
    """What the arguments of ``connect`` and the site's files come to."""

    address: str
    """The metastore's."""
    settings: Settings
    spark: dict[str, str]
    """What Spark starts with."""
    set_by_user: list[str]
    """Keys of the caller's own settings, but those of Spark."""
    addresses: str | None
    """Addresses of a Hive Metastore that the caller's settings name; None where they name none."""
    proxy_user: str | None


def _choose(
    metastore: str | None, settings: Mapping[str, str | float], user: str | None
) -> _Choices:
    """Join the caller's settings with those of the site's files, which count less."""
    texts = {key: _setting(key, value) for key, value in dict(settings).items()}
    site = site_settings()
    of_spark = {spark_name(key): text for key, text in (site | texts).items()}
    set_by_user = [key for key in texts if not key.startswith("spark.")]
    hive = site | {key: texts[key] for key in set_by_user}
    address = _address(metastore, hive)
    if address.startswith(THRIFT):
        # There a worker takes what is next in the queue, never a request of its own choice.
        hive = {"hivesql.compactor.inline": "false"} | hive
    else:
        # Hive's default would take twice the time; with a Hive Metastore older Hives may read too.
        hive = {"hive.exec.orc.default.compress": "ZSTD"} | hive
    hidden = hive.get(HIDDEN_LIST, "")
    in_force = Settings.of(
        {key: text for key, text in hive.items() if key in KEYS or not is_secret(key, hidden)}
    )
    proxy_user = in_force.text(PROXY_USER).strip() or None
    if proxy_user is not None and user not in (None, proxy_user):
        raise SemanticError(
            f"the session is {user}'s, and {PROXY_USER}={proxy_user} lets it work as another"
        )
    return _Choices(
        address=address,
        settings=in_force,
        spark={key: text for key, text in of_spark.items() if key.startswith("spark.")},
        set_by_user=set_by_user,
        addresses=texts.get(METASTORE_ADDRESSES),
        proxy_user=proxy_user,
    )


def _open_metastore(
    choices: _Choices,
    location: str,
    access: Access | None,
    notify: Callable[[str], None],
    *,
    hint: str,
) -> Metastore:
    """Open the metastore; of one that is made here the user hears, with a ``hint`` behind."""
    # As for Java's sockets, 0 sets no limit.
    seconds = choices.settings.seconds("hive.metastore.client.socket.timeout") or _LONGEST_WAIT
    made = _file_to_make(choices.address)
    store = open_metastore(
        choices.address,
        location,
        timeout=min(seconds, _LONGEST_WAIT),
        cache=_cache(choices.settings),
        access=access,
        notify=notify,
    )
    if made is not None:
        notify(f"made a new metastore, {made}, with no tables{hint}")
    return store


def _address(metastore: str | None, settings: Mapping[str, str]) -> str:
    """Return where the metastore is; an empty text is a variable that nobody has set."""
    if metastore is not None and not metastore.strip():
        raise SemanticError(
            "the metastore's address is empty: name it, or leave it out for that of "
            f"{METASTORE_ADDRESSES} or {DEFAULT_METASTORE}"
        )
    address = metastore or settings.get(METASTORE_ADDRESSES) or DEFAULT_METASTORE
    if "\0" in address:
        raise SemanticError(f"the metastore's address has the character of code 0: {address!a}")
    return address


def missing_metastore(
    metastore: str | None, settings: Mapping[str, str | float] | None = None
) -> Path | None:
    """Return the SQLite file that ``connect`` with the same would make; None where it makes none.

    Nothing is opened.
    """
    return _file_to_make(_choose(metastore, settings or {}, None).address)


@translate_errors
def require_metastore(
    metastore: str | None, settings: Mapping[str, str | float] | None = None
) -> None:
    """Refuse what only looks where ``connect`` with the same would make an empty metastore."""
    _require_file(_choose(metastore, settings or {}, None).address)


def _require_file(address: str) -> None:
    if (missing := _file_to_make(address)) is not None:
        raise SemanticError(f"there is no metastore at {missing}: name it by --metastore")


def _file_to_make(url: str) -> Path | None:
    """Return the SQLite file that opening it makes; None where it is there."""
    if not url.startswith(SQLITE) or "?" in url or "file:" in url:
        return None
    file = Path(url.removeprefix(SQLITE)).absolute()
    return None if file.exists() else file


def _explain(error: Exception) -> Exception:
    from hivesql_executor.translate_errors import translate_error

    return translate_error(error)


def _newer_files(runtime: Runtime) -> Sequence[str]:
    # Imported late: hardly any session sees a database fail over.
    from hivesql_executor.checks.warehouse import newer_places

    return newer_places(runtime)


def _open_session(
    runtime: Runtime,
    lazy: LazySpark,
    database: str,
    idempotency_key: str | None,
    set_by_user: Collection[str],
) -> Session:
    """Open a session on a metastore, whose ``set_by_user`` settings may be worth a notice."""
    store, settings = runtime.metastore, runtime.settings
    timeout = settings.seconds("hive.txn.timeout")
    event_lifetime = settings.seconds("hive.metastore.event.db.listener.timetolive")
    # Most openings find nothing, and then need not wait for a writer.
    if store.needs_housekeeping(timeout, event_lifetime):
        from hivesql_executor.transactions.reaper import reap

        # Transactions of processes that died hold no locks longer than their time-out.
        reap(runtime)
        store.clean_txns()
        store.purge_events(event_lifetime)
        store.forget_writes(settings.seconds("hivesql.history.retention"))
    store.database(database)
    if settings.flag(AUTHORIZATION) and not settings.asks_for_privileges:
        manager = settings.text(AUTHORIZATION_MANAGER)
        runtime.notify(f"{AUTHORIZATION_MANAGER}={manager} is not known here: it protects nothing")
    too_late = unheeded_notice(lazy.unheeded())
    for notice in filter(None, [too_late, *map(notice_about, set_by_user)]):
        runtime.notify(notice)
    return Session(runtime, lazy, database=database, idempotency_key=idempotency_key)


def _check_text(name: str, value: object) -> None:
    """Refuse bytes and the like, some of which would pass for a name that is not there."""
    if not isinstance(value, str):
        raise SemanticError(f"{name} is a text, not {type(value).__name__}")


def _setting(key: object, value: object) -> str:
    """Return a value as SET takes it: numbers, true and false may be given as they are."""
    if not isinstance(key, str) or not isinstance(value, (str, int, float)):
        raise SemanticError(f"settings are texts by names, and {key!r} is not")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _files(place: str, spark: LazySpark) -> Files:
    # Imported late: most statements about metadata touch no file.
    from hivesql_executor.files.api import files_for

    return files_for(place, spark, spark.file_systems)


def _user(access: Access | None) -> str:
    # As in Hadoop: whoever logs in is no other because a variable says so.
    if access is not None and access.login is not None and access.login.user:
        return access.login.user
    return hadoop_user()


def _access(url: str, settings: Settings) -> Access | None:
    if not url.startswith(THRIFT):
        return None
    from hivesql_executor.metastore.hms.access.settings import access

    return access(settings)


def _cache(settings: Settings) -> Limits | None:
    """Tell how much of the metastore is kept in memory; None for nothing."""
    if not settings.flag("hivesql.metastore.cache"):
        return None
    from hivesql_planner.cache.entries import patterns

    key = "hive.metastore.cached.rawstore.cached.object."
    allowed, denied = settings.text(f"{key}whitelist"), settings.text(f"{key}blacklist")
    patterns(f"{allowed},{denied}")
    return Limits(
        allowed=allowed,
        denied=denied,
        tables=settings.integer("hivesql.metastore.cache.max.tables"),
        partitions=settings.integer("hivesql.metastore.cache.max.partitions"),
    )
