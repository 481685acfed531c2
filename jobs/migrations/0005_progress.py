"""What a job's own output tells of its progress, and the files that are followed for it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0004_budgets_that_recur"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="streams",
            field=models.JSONField(default=dict, help_text="Files that its command makes the solver write, followed live: name and path"),
        ),
        migrations.AddField(
            model_name="job",
            name="progress",
            field=models.JSONField(default=dict, help_text="How far it is, as its own output tells; see jobs.following"),
        ),
    ]
