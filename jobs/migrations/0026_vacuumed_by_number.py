from django.db import migrations

TABLES = ("jobs_workload", "jobs_cluster")
DEAD, GROWN = 20_000, 5_000
"""Rows: a workload leaves a dozen dead ones behind in its life."""


def by_number(apps, schema_editor):
    """The queue is looked up in indexes that hold the dead rows too: by default a million jobs wait for 200,000 of them."""
    if schema_editor.connection.vendor == "postgresql":
        for table in TABLES:
            schema_editor.execute(
                f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = {DEAD}, "
                f"autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = {GROWN})"
            )


def by_share(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table in TABLES:
            schema_editor.execute(
                f"ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, "
                "autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)"
            )


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0025_names_expected"),
    ]

    operations = [
        migrations.RunPython(by_number, by_share),
    ]
