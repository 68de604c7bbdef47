"""Who guesses passwords at speed: limits that count before a password is hashed."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from hivesql.server.protocol import LoginError
from hivesql.server.transports.passwords import LoginLimits, Logins

GUESSES = 200


class Directory:
    """A check of passwords that counts how often it is asked, and how often at once."""

    at_once_of_address = 1

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.most = 0
        self._now = 0
        self._guard = threading.Lock()

    def accepts(self, user: str, password: str) -> bool:
        with self._guard:
            self.asked[user] += 1
            self._now += 1
            self.most = max(self.most, self._now)
        threading.Event().wait(0.002)
        with self._guard:
            self._now -= 1
        return password == "right"


def outcome(logins: Logins, user: str, password: str, address: str) -> str:
    try:
        return "in" if logins.accepts(user, password, address) else "wrong"
    except LoginError as error:
        return str(error)


def test_guesses_that_are_sent_at_once_are_checked_no_more_than_others() -> None:
    check = Directory()
    logins = Logins(check, LoginLimits(delay=0.0))
    with ThreadPoolExecutor(50) as pool:
        told = Counter(
            pool.map(lambda n: outcome(logins, f"user{n % 7}", "no", "10.0.0.1"), range(GUESSES))
        )
    assert told == {"wrong": 10, "too many failed logins": GUESSES - 10}
    assert check.asked.total() == 10
    assert check.most == 1
    assert outcome(logins, "ann", "right", "10.0.0.2") == "in"


def test_whoever_may_come_in_does_so_however_many_come_at_once() -> None:
    check = Directory()
    logins = Logins(check, LoginLimits(delay=0.0))
    with ThreadPoolExecutor(50) as pool:
        told = pool.map(lambda n: outcome(logins, f"user{n}", "right", "10.0.0.1"), range(GUESSES))
        assert set(told) == {"in"}
    assert check.most == 1
    assert logins.limits._turns == {}


def test_addresses_of_one_network_count_together() -> None:
    check = Directory()
    logins = Logins(check, LoginLimits(delay=0.0))
    told = [outcome(logins, "ann", "no", f"2001:db8::{number:x}") for number in range(20)]
    assert told == ["wrong"] * 10 + ["too many failed logins"] * 10
    assert outcome(logins, "ann", "right", "2001:db8:0:1::1") == "in"
    told = [outcome(logins, "ann", "no", "::ffff:10.0.0.3") for _ in range(10)]
    assert outcome(logins, "ann", "right", "10.0.0.3") == "too many failed logins"


def test_an_account_of_ones_own_forgives_no_guesses_of_others() -> None:
    logins = Logins(Directory(), LoginLimits(delay=0.0))
    for _ in range(9):
        assert outcome(logins, "root", "no", "10.0.0.1") == "wrong"
        assert outcome(logins, "mine", "right", "10.0.0.1") == "in"
    assert outcome(logins, "root", "no", "10.0.0.1") == "wrong"
    assert outcome(logins, "mine", "right", "10.0.0.1") == "too many failed logins"


def test_many_addresses_do_not_let_one_be_forgotten() -> None:
    limits = LoginLimits(delay=0.0)
    for number in range(10_000):
        limits.note_failure(f"10.1.{number // 256}.{number % 256}")
    for _ in range(10):
        limits.note_failure("10.0.0.1")
    for number in range(9_000):
        limits.note_failure(f"10.2.{number // 256}.{number % 256}")
    assert limits.is_barred("10.0.0.1")
    assert len(limits._failures) == 10_000


@pytest.mark.parametrize("address", ["10.0.0.1", "fe80::1%eth0", "somewhere"])
def test_any_address_is_counted(address: str) -> None:
    limits = LoginLimits(delay=0.0)
    for _ in range(10):
        limits.note_failure(address, "ann")
    assert limits.is_barred(address)
    limits.note_success(address, "ann")
    assert not limits.is_barred(address)
