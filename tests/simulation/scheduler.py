"""One client at a time, simulated time, and faults at points that a case names.

At each of its points a client has a priority, a number made of the case's seed, the client's name
and its own progress; whoever has the highest one goes on. So what is left of a case when clients or
faults are taken away runs in the same order as before.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

from simulation.cases import Case, Fault

MOST_STEPS = 60_000


class Killed(BaseException):
    """Raised in clients that died, at every further thing they try."""


class Endless(AssertionError):
    """The clients do not come to an end."""


@dataclass(eq=False)
class Client:
    """A thread that runs only when it has the turn."""

    name: str
    work: Callable[[], None]
    seen: Counter[str] = field(default_factory=Counter)
    """How many points of each kind it has passed."""
    wake: float = 0.0
    priority: int = 0
    is_dead: bool = False
    is_done: bool = False
    faults: list[str] = field(default_factory=list)
    """Those that have happened to it."""
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    thread: threading.Thread | None = None


class Latch:
    """A lock whose waiters leave the turn to others; the dead hold none.

    It stands for a lock within the program, which would wait for ever for a client that waits for
    its turn.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._holder: Client | None = None

    def __enter__(self) -> None:
        client = self._scheduler.current
        while client and self._holder and not self._holder.is_dead:
            self._scheduler.sleep(0.01)
        self._holder = client

    def __exit__(self, *_: object) -> None:
        if self._holder is self._scheduler.current:
            self._holder = None


@dataclass(eq=False)
class Beat:
    """What a client does beside its work, every so many seconds."""

    owner: Client
    interval: float
    work: Callable[[], bool]
    due: float
    is_over: bool = False


class Scheduler:
    """Runs clients to their end; `point` is where one may have to wait, or fail."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.now = 0.0
        self.jumped = 0.0
        """How many seconds the clock of the database is ahead."""
        self.steps = 0
        self.trace: list[tuple[str, str]] = []
        self.clients: list[Client] = []
        self.notice: Callable[[], None] = lambda: None
        """Called now and then while nobody runs."""
        self.failure: BaseException | None = None
        self._beats: list[Beat] = []
        self._here = threading.local()
        self._faults: Mapping[tuple[str, str, int], Fault] = {
            (one.client, one.counted, one.number): one for one in case.faults
        }
        self._all_done = threading.Semaphore(0)
        self._ending = False

    # -- from outside
    def add(self, name: str, work: Callable[[], None]) -> None:
        """A client, which begins when `run` is called."""
        self.clients.append(Client(name, work))

    def run(self) -> None:
        """Run all clients until each has ended or died; raises what went wrong in one."""
        for client in self.clients:
            client.priority = self._number(client, "first")
            client.thread = threading.Thread(target=self._live, args=(client,), daemon=True)
            client.thread.start()
        if first := self._next():
            first.turn.release()
            self._all_done.acquire()
        if self.failure:
            raise self.failure

    def close(self) -> None:
        """Let the threads of the dead end."""
        self._ending = True
        for client in self.clients:
            client.is_dead = True
            client.turn.release()
        for client in self.clients:
            if client.thread:
                client.thread.join()

    @property
    def current(self) -> Client | None:
        """The client whose thread this is, unless something is done between its steps."""
        if getattr(self._here, "is_between", False):
            return None
        found: Client | None = getattr(self._here, "client", None)
        return found

    @property
    def database_now(self) -> float:
        """Seconds since the epoch by the clock of the database."""
        return 1_700_000_000.0 + self.now + self.jumped

    # -- from clients
    def point(self, kind: str, what: str) -> Fault | None:
        """A place where others may go on first; the fault of this kind that is due, if any.

        ``kind`` is ``read``, ``write`` (of the metastore) or ``file``. Crashes, pauses and jumps of
        the clock happen here; the others are the caller's affair.
        """
        client = self.current
        if client is None:
            return None
        if client.is_dead:
            raise Killed
        self.steps += 1
        self.trace.append((client.name, what))
        if self.steps > MOST_STEPS:
            self.fail(Endless(f"{self.steps} steps, and no end"))
        self.now += 0.001 * (1 + self._number(client, "tick") % 20)
        client.seen["point"] += 1
        client.seen[kind] += 1
        self._between(self._beat)
        met = self._faults.get((client.name, "point", client.seen["point"]))
        if met is not None:
            self._meet(met, client)
        if self._number(client, "change") % self.case.patience == 0:
            client.priority = self._number(client, "priority")
        self._give_turn(client)
        found = self._faults.get((client.name, kind, client.seen[kind]))
        if found is not None:
            client.faults.append(found.kind)
            self.trace.append((client.name, f"!{found.kind}"))
        return found

    def sleep(self, seconds: float) -> None:
        """Wait for simulated seconds; outside of clients time just passes."""
        client = self.current
        if client is None:
            self.now += seconds
            return
        client.wake = self.now + seconds
        self._give_turn(client)

    def repeat(self, interval: float, work: Callable[[], bool], name: str) -> Callable[[], None]:
        """Call ``work`` every ``interval`` seconds while the client that asks lives."""
        client = self.current
        if client is None:
            return lambda: None
        beat = Beat(client, interval, work, self.now + interval)
        self._beats.append(beat)

        def end() -> None:
            beat.is_over = True

        return end

    def die(self) -> None:
        """The current client dies here: nothing of it runs until `close`."""
        client = self.current
        assert client is not None
        client.is_dead = True
        client.faults.append("crash")
        self.trace.append((client.name, "!crash"))
        self._give_turn(client)
        raise Killed

    def chance(self, label: str) -> random.Random:
        """Numbers that the case's seed decides."""
        return random.Random(f"{self.case.seed} {label}")

    # -- inside
    def _live(self, client: Client) -> None:
        self._here.client = client
        client.turn.acquire()
        try:
            if not self._ending:
                client.work()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001 - whoever runs the case gets it
            self.fail(error)
        client.is_done = True
        if not self._ending:
            self._pass_on()

    def fail(self, error: BaseException) -> None:
        """Remember what went wrong first; `run` raises it."""
        if self.failure is None and not self._ending:
            self.failure = error

    def _pass_on(self) -> None:
        following = None if self.failure else self._next()
        (following.turn if following else self._all_done).release()

    def _give_turn(self, client: Client) -> None:
        following = None if self.failure else self._next()
        if following is client:
            return
        (following.turn if following else self._all_done).release()
        client.turn.acquire()
        if client.is_dead:
            raise Killed

    def _next(self) -> Client | None:
        """Who goes on; time passes until somebody can. None when all have ended."""
        living = [one for one in self.clients if not (one.is_done or one.is_dead)]
        if not living:
            return None
        while True:
            awake = [one for one in living if one.wake <= self.now]
            if awake:
                return max(awake, key=lambda one: (one.priority, one.name))
            later = [one.due for one in self._beats if self._is_alive(one)]
            self.now = min([*(one.wake for one in living), *later], default=self.now)
            self._between(self._beat)

    def _is_alive(self, beat: Beat) -> bool:
        return not (beat.is_over or beat.owner.is_dead or beat.owner.is_done)

    def _between(self, work: Callable[[], None]) -> None:
        """Do something that is no step of the current client."""
        was = getattr(self._here, "is_between", False)
        self._here.is_between = True
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a finding is no error of the client's
            self.fail(error)
        finally:
            self._here.is_between = was

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Let what is done in the block be no step of anybody, with its errors for the client."""
        was = getattr(self._here, "is_between", False)
        self._here.is_between = True
        try:
            yield
        finally:
            self._here.is_between = was

    def _beat(self) -> None:
        self._beats = [beat for beat in self._beats if self._is_alive(beat)]
        for beat in list(self._beats):
            if beat.due <= self.now and not beat.is_over:
                beat.due = self.now + beat.interval
                self.trace.append((beat.owner.name, "beat"))
                beat.is_over |= not beat.work()

    def _meet(self, fault: Fault, client: Client) -> None:
        if fault.kind == "crash":
            self.die()
        client.faults.append(fault.kind)
        self.trace.append((client.name, f"!{fault.kind}"))
        if fault.kind == "jump":
            self.jumped += fault.seconds
            # Whoever lives may be taken for dead now.
            for one in self.clients:
                one.faults.append("jump")
        if fault.kind in ("hang", "crawl"):
            client.wake = self.now + fault.seconds
        if fault.kind == "hang":
            for beat in self._beats:
                if beat.owner is client:
                    late = self._number(client, "late") % 2
                    beat.due = client.wake + late * beat.interval

    def _number(self, client: Client, label: str) -> int:
        text = f"{self.case.seed} {client.name} {client.seen['point']} {label}"
        return int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big")
