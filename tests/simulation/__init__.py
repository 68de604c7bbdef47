"""Sessions, streams and services on one metastore, under one scheduler, with faults: from a seed.

Everything that a seed decides is in a `Case` (``cases.py``): what each client does, which faults
meet it, and how eagerly the scheduler changes from one client to another. Clients run the real
code: statements through `Session`, streaming connections, the services' own rounds. Only one of
them runs at a time (``scheduler.py``), and time is simulated, that of the database too.

Before and after every transaction of the metastore (``database.py``) and before every operation
on a file of the warehouse (``files.py``) the scheduler may let another client go on, or a fault
happens: the client dies as by ``kill -9`` (nothing of it runs any more: no ``except``, no
``finally``, no heartbeat), gets ENOSPC or EIO, is told that a commit's answer was lost, hangs
longer than its time-out, or the clock jumps. What only Spark can do is not simulated: compactions
merge their files by ``merging.py``, and rows of INSERT OVERWRITE, of CREATE TABLE AS and of tables
that are not transactional are written by ``writing.py``.

After every commit, and now and then, a fresh reader (``reading.py``) is compared with a model
(``model.py``), which knows of each transaction what it saw when it began and what it did; so is
the answer of every SELECT. In the end, when time-outs have passed and all services have had their
rounds (``ending.py``), the contents are the model's, ``check`` finds nothing, and nothing is left
over. A seed that fails is shortened (``shortening.py``) and told with a command that replays it.

``defects`` puts known defects back, to prove that they are found.
"""
