import re

from django.db import migrations, models

LOOKS_ESCAPED = re.compile(r"\\(?=x[0-9a-f]{2})")


def escape(apps, schema_editor):
    """From now on \\xHH in a name is a byte; names that hold these letters themselves are written as jobs.names would."""
    for model in ("StoredFile", "Upload", "JobInput", "Sent"):
        rows = apps.get_model("jobs", model).objects
        for row in rows.filter(name__contains="\\x").only("name").iterator():
            written = LOOKS_ESCAPED.sub(r"\\x5c", row.name)
            if written != row.name:
                rows.filter(pk=row.pk).update(name=written)


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0021_copies_that_lack_files"),
    ]

    operations = [
        migrations.AlterField(model_name="jobinput", name="name", field=models.CharField(max_length=4096)),
        migrations.AlterField(model_name="sent", name="name", field=models.CharField(max_length=4200)),
        migrations.AlterField(model_name="storedfile", name="name", field=models.CharField(max_length=4096)),
        migrations.AlterField(model_name="upload", name="name", field=models.CharField(max_length=4096)),
        migrations.RunPython(escape, migrations.RunPython.noop),
    ]
