"""What software the machines of a coretype have, and how its version is told."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0009_slurm_requests_and_accounts")]

    operations = [
        migrations.AddField(
            model_name="software",
            name="detection",
            field=models.JSONField(blank=True, default=dict, help_text="How its version is told: a command and a pattern with one group"),
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                (
                    "coretype",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="look",
                        serialize=False,
                        to="jobs.coretype",
                    ),
                ),
                ("asked", models.DateTimeField(default=django.utils.timezone.now)),
                ("done", models.DateTimeField(null=True)),
                ("trouble", models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="Installed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("found", models.CharField(blank=True, max_length=80)),
                ("at", models.DateTimeField()),
                (
                    "coretype",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="installed", to="jobs.coretype"),
                ),
                (
                    "version",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="installed", to="jobs.softwareversion"),
                ),
            ],
            options={"ordering": ["version__software__order", "version__order", "pk"]},
        ),
        migrations.AddConstraint(
            model_name="installed",
            constraint=models.UniqueConstraint(fields=("coretype", "version"), name="one_look_a_coretype_and_version"),
        ),
    ]
