from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="SignInTry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="As it was typed, in lower case", max_length=150)),
                ("address", models.GenericIPAddressField(null=True)),
                ("at", models.DateTimeField(db_index=True)),
            ],
            options={"verbose_name_plural": "sign-in tries"},
        ),
    ]
