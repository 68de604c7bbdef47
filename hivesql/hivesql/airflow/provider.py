"""What Airflow's provider manager reads; imports nothing of Airflow."""

from __future__ import annotations

from typing import Any

CONNECTION_TYPE = "hivesql"


def get_provider_info() -> dict[str, Any]:
    """Return the provider's metadata, for the entry point ``apache_airflow_provider``."""
    modules, trigger = ["hivesql.airflow.operator"], "hivesql.airflow.trigger"
    return {
        "package-name": "hivesql",
        "name": "HiveSQL",
        "description": "Hive's ACID SQL on Spark without a Hive cluster.",
        "integrations": [
            {"integration-name": "HiveSQL", "external-doc-url": "", "tags": ["software"]}
        ],
        "operators": [{"integration-name": "HiveSQL", "python-modules": modules}],
        "triggers": [{"integration-name": "HiveSQL", "python-modules": [trigger]}],
        "hooks": [{"integration-name": "HiveSQL", "python-modules": ["hivesql.airflow.hook"]}],
        "connection-types": [
            {
                "connection-type": CONNECTION_TYPE,
                "hook-class-name": "hivesql.airflow.hook.HiveSqlHook",
                "hook-name": "HiveSQL",
                "ui-field-behaviour": {
                    "hidden-fields": ["extra"],
                    "relabeling": {
                        "host": "Server (hivesql serve)",
                        "schema": "Database",
                        "login": "User of the metastore, or of the server",
                        "password": "Password of that user",
                    },
                    "placeholders": {
                        "host": "empty: tasks run the statements themselves",
                        "port": "10000",
                    },
                },
                "conn-fields": {
                    "metastore": _text(
                        "Metastore's database URL (sqlite:///…, postgresql://…, mysql://…)"
                    ),
                    "warehouse": _text("Directory or URI of managed tables"),
                    "settings": _text("Settings: key=value, one a line"),
                    "tls": _flag("TLS to the server"),
                    "sasl": _flag("SASL at the server (off for hivesql serve --auth nosasl)"),
                    "ca_file": _text("File (PEM) of the server's certificate authority"),
                },
            }
        ],
        "asset-uris": [
            {
                "schemes": [CONNECTION_TYPE],
                "handler": "hivesql.airflow.assets.sanitize_uri",
                "factory": "hivesql.airflow.assets.create_asset",
                "to_openlineage_converter": "hivesql.airflow.assets.convert_asset_to_openlineage",
            }
        ],
    }


def _flag(label: str) -> dict[str, Any]:
    return {"label": label, "schema": {"type": ["boolean", "null"]}}


def _text(label: str) -> dict[str, Any]:
    return {"label": label, "schema": {"type": ["string", "null"]}}
