"""What Airflow's provider manager reads; imports nothing of Airflow."""

from __future__ import annotations

from typing import Any

CONNECTION_TYPE = "hivesql"


def get_provider_info() -> dict[str, Any]:
    """Return the provider's metadata, for the entry point ``apache_airflow_provider``."""
    modules = ["hivesql.airflow.operator"]
    return {
        "package-name": "hivesql",
        "name": "HiveSQL",
        "description": "Hive's ACID SQL on Spark without a Hive cluster.",
        "integrations": [
            {"integration-name": "HiveSQL", "external-doc-url": "", "tags": ["software"]}
        ],
        "operators": [{"integration-name": "HiveSQL", "python-modules": modules}],
        "hooks": [{"integration-name": "HiveSQL", "python-modules": ["hivesql.airflow.hook"]}],
        "connection-types": [
            {
                "connection-type": CONNECTION_TYPE,
                "hook-class-name": "hivesql.airflow.hook.HiveSqlHook",
                "hook-name": "HiveSQL",
                "ui-field-behaviour": {
                    "hidden-fields": ["host", "port", "extra"],
                    "relabeling": {
                        "schema": "Database",
                        "login": "User of the metastore",
                        "password": "Password of the metastore",
                    },
                },
                "conn-fields": {
                    "metastore": _text(
                        "Metastore's database URL (sqlite:///…, postgresql://…, mysql://…)"
                    ),
                    "warehouse": _text("Directory or URI of managed tables"),
                    "settings": _text("Settings: key=value, one a line"),
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


def _text(label: str) -> dict[str, Any]:
    return {"label": label, "schema": {"type": ["string", "null"]}}
