"""What of the settings of Google's connector and of ABFS another client can be told."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hivesql_planner.settings.azure_access import AzureAccess, azure_access, is_flat
from hivesql_planner.settings.gcs_access import GcsAccess, gcs_access

KEY_FILE = {
    "fs.gs.auth.service.account.json.keyfile": "/key.json",
    "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
}
HOST = "acc.dfs.core.windows.net"
PLACE = f"abfss://box@{HOST}/w"
FLAT = {f"fs.azure.account.hns.enabled.{HOST}": "false"}
BY_KEY = {**FLAT, f"fs.azure.account.key.{HOST}": "azure-key"}


@pytest.mark.parametrize(
    ("settings", "environment", "access"),
    [
        (KEY_FILE, {}, GcsAccess(bucket="b", key_file="/key.json")),
        (KEY_FILE | {"fs.gs.block.size": "1"}, {}, GcsAccess(bucket="b", key_file="/key.json")),
        ({"fs.gs.auth.type": "COMPUTE_ENGINE"}, {},
         GcsAccess(bucket="b", metadata="metadata.google.internal")),
        ({"fs.gs.auth.type": "COMPUTE_ENGINE"}, {"GCE_METADATA_HOST": "h:1"},
         GcsAccess(bucket="b", metadata="h:1")),
        ({"fs.gs.auth.type": "unauthenticated", "fs.gs.storage.root.url": "http://h:1/"}, {},
         GcsAccess(bucket="b", endpoint="http://h:1", is_anonymous=True)),
        ({"fs.gs.auth.null.enable": "true", "fs.gs.auth.service.account.enable": "false"}, {},
         GcsAccess(bucket="b", is_anonymous=True)),
        # The connector alone knows these.
        ({}, {}, None),
        ({"fs.gs.auth.type": "APPLICATION_DEFAULT"}, {}, None),
        (KEY_FILE | {"fs.gs.auth.type": "COMPUTE_ENGINE"}, {}, None),
        (KEY_FILE | {"fs.gs.auth.type": ""}, {}, None),
        (KEY_FILE | {"fs.gs.proxy.address": "p"}, {}, None),
        (KEY_FILE | {"fs.gs.encryption.algorithm": "AES256"}, {}, None),
        (KEY_FILE | {"fs.gs.requester.pays.mode": "AUTO"}, {}, None),
        (KEY_FILE | {"google.cloud.auth.type": "COMPUTE_ENGINE"}, {}, None),
        (KEY_FILE | {"fs.gs.auth.impersonation.service.account": "a"}, {}, None),
        (KEY_FILE, {"HTTPS_PROXY": "http://p"}, None),
        (KEY_FILE, {"GOOGLE_BEARER_TOKEN": "t"}, None),
    ],
)  # fmt: skip
def test_google(
    settings: Mapping[str, str], environment: Mapping[str, str], access: GcsAccess | None
) -> None:
    assert gcs_access("b", settings, environment) == access


def test_azure() -> None:
    known = azure_access(PLACE, BY_KEY, {})
    assert known == AzureAccess(
        container="box", account="acc", endpoint="https://acc.blob.core.windows.net",
        key="azure-key",
    )  # fmt: skip
    assert "azure-key" not in repr(known)
    by_token = FLAT | {
        "fs.azure.account.auth.type": "SAS",
        f"fs.azure.sas.fixed.token.{HOST}": "?sv=1",
        "fs.azure.account.key.other.dfs.core.windows.net": "of another",
        "fs.azure.io.retry.max.retries": "3",
    }
    known = azure_access(PLACE, by_token, {})
    assert known is not None
    assert (known.key, known.token, known.retries) == (None, "sv=1", 3)
    emulated = BY_KEY | {"fs.azure.abfs.endpoint": "127.0.0.1:10000"}
    assert [
        access and access.endpoint
        for access in (
            azure_access(PLACE, emulated, {}),
            azure_access(PLACE.replace("abfss", "abfs"), emulated, {}),
            azure_access(
                PLACE.replace("abfss", "abfs"),
                emulated | {"fs.azure.always.use.https": "false"},
                {},
            ),
        )
    ] == [f"{scheme}://127.0.0.1:10000/acc" for scheme in ("https", "https", "http")]


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ({f"fs.azure.account.hns.enabled.{HOST}": "true"}, {}),
        ({"fs.azure.account.auth.type": "OAuth"}, {}),
        ({"fs.azure.account.auth.type": "SAS"}, {}),
        ({"fs.azure.client-provided-encryption-key": "k"}, {}),
        ({"fs.azure.io.retry.max.retries": "many"}, {}),
        ({"hadoop.security.credential.provider.path": "jceks://file/keys"}, {}),
        ({}, {"AZURE_STORAGE_TOKEN": "t"}),
        ({}, {"https_proxy": "http://p"}),
    ],
)
def test_what_abfs_alone_knows(settings: dict[str, str], environment: dict[str, str]) -> None:
    assert azure_access(PLACE, BY_KEY, {}) is not None
    assert azure_access(PLACE, BY_KEY | settings, environment) is None


def test_accounts_have_directories_unless_it_is_said() -> None:
    assert not is_flat(PLACE, {})
    assert is_flat(PLACE, FLAT)
    assert not is_flat("abfss://box@other.dfs.core.windows.net/w", FLAT)
