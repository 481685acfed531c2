from django.db import migrations

GUARD = """
CREATE TRIGGER headrace_append_only BEFORE UPDATE OR DELETE ON jobs_auditentry FOR EACH ROW EXECUTE FUNCTION headrace_append_only();
"""


def guard(apps, schema_editor):
    """The audit log as the ledger: the database itself refuses to change it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(GUARD, params=None)


def unguard(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER headrace_append_only ON jobs_auditentry", params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0014_names_to_find'),
    ]

    operations = [
        migrations.RunPython(guard, unguard),
    ]
