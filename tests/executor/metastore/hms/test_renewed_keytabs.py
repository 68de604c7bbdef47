"""Keytabs whose key is changed at the KDC, and that are replaced, while a process runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql_planner.errors import ExecutionError
from kdc import REALM, running_kdc, skip_without_kdc
from waiting import wait_until


def test_a_new_keytab_counts_once_the_ticket_of_the_old_one_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without_kdc()
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    from hivesql_executor.metastore.hms.access.kerberos import KerberosLogin

    with running_kdc(tmp_path / "kdc") as kdc:
        for name, value in kdc.environment.items():
            monkeypatch.setenv(name, value)
        kdc.add("hive/localhost")
        keytab = kdc.add("etl", options='-maxlife "3 seconds"')
        login = KerberosLogin(
            server=f"hive/localhost@{REALM}", principal=f"etl@{REALM}", keytab=str(keytab)
        )
        login.begin("localhost").start("GSSAPI")
        new = kdc.place / "new.keytab"
        kdc.run("kadmin.local", "-q", f"ktadd -k {new} etl@{REALM}")
        refusals: list[str] = []

        def is_refused() -> bool:
            try:
                login.begin("localhost").start("GSSAPI")
            except ExecutionError as error:
                refusals.append(str(error))
            return bool(refusals)

        wait_until(is_refused)
        # MIT's library says "Ticket expired", for which nobody would look at the keytab.
        assert "Preauthentication failed" in refusals[0] and "kinit" not in refusals[0]
        assert f"The keys of {keytab} are no longer those of the KDC" in refusals[0]
        new.replace(keytab)
        login.begin("localhost").start("GSSAPI")
