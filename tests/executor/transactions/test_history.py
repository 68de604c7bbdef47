"""The checker itself: it finds each kind of anomaly, and nothing in a good history."""

from __future__ import annotations

from executor.transactions import history


def test_the_checker_finds_what_is_wrong() -> None:
    def read(table: str, key: int, write_id: int, value: int = 50) -> history.Read:
        return history.Read(table, key, (write_id, 536870912, key), value)

    known = {("a", 1): 1, ("b", 1): 1, ("a", 2): 2, ("b", 2): 2}
    old = (read("a", 1, 1), read("b", 1, 1))
    new = (read("a", 1, 2, 40), read("b", 1, 2, 60))
    half = (read("a", 1, 2, 40), read("b", 1, 1, 60))
    writer = history.Done(2, (old,), old, {"a": 2, "b": 2})

    def wrong(*reads: tuple[history.Read, ...], others: tuple[history.Done, ...] = ()) -> str:
        reader = history.Done(9, reads, (), {})
        return "; ".join(history.problems([writer, reader, *others], known, 100))

    assert wrong(old) == wrong(new, new) == ""
    assert "part of txn 2: b 1" in wrong(half)
    assert "two states" in wrong(old, new)
    assert "never committed" in wrong((read("a", 1, 7), read("b", 1, 1)))
    assert "sum of 90" in wrong((read("a", 1, 1, 40), read("b", 1, 1)))
    second = history.Done(3, (old,), old, {"a": 3, "b": 3})
    assert "replaced 2 times" in wrong(old, others=(second,))
