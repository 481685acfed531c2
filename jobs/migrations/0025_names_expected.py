from django.db import migrations

EXPECT = """
CREATE STATISTICS headrace_names_expected ON (upper(name::text)) FROM jobs_workload;
ALTER TABLE headrace_names SET (parallel_workers = 0);
"""
EXPECT_NOTHING = """
DROP STATISTICS headrace_names_expected;
ALTER TABLE headrace_names RESET (parallel_workers);
"""


def expect_names(apps, schema_editor):
    """How many names have a text: the planner knows nothing of upper(name) otherwise and takes every search for rare.

    And no helpers for looking up a few names: to start them takes longer.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(EXPECT, params=None)


def expect_nothing(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(EXPECT_NOTHING, params=None)


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0024_no_index_twice"),
    ]

    operations = [
        migrations.RunPython(expect_names, expect_nothing),
    ]
