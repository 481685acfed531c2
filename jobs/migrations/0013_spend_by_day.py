import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import TruncDate

import jobs.models.fields

APPEND_ONLY = """
CREATE FUNCTION headrace_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  links text[] := ARRAY['workload_id', 'by_id', 'owner_id', 'project_id', 'coretype_id'];
  link text;
BEGIN
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - links = to_jsonb(OLD) - links THEN
    FOREACH link IN ARRAY links LOOP  -- what was deleted is no longer linked to; nothing is linked anew
      IF to_jsonb(NEW) -> link NOT IN (to_jsonb(OLD) -> link, 'null'::jsonb) THEN
        RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
      END IF;
    END LOOP;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER headrace_append_only BEFORE UPDATE OR DELETE ON jobs_charge FOR EACH ROW EXECUTE FUNCTION headrace_append_only();
"""


def guard(apps, schema_editor):
    """The database itself refuses to change the ledger; SQLite keeps no trigger when a later migration rebuilds its table."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(APPEND_ONLY, params=None)


def unguard(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER headrace_append_only ON jobs_charge; DROP FUNCTION headrace_append_only()", params=None)


def add_up(apps, schema_editor):
    """The charges that there are, added up as the ones to come will be."""
    Charge, Spend = apps.get_model("jobs", "Charge"), apps.get_model("jobs", "Spend")
    columns = ("day", "budget_id", "owner_id", "project_id", "coretype_id", "software")
    used = Charge.objects.filter(kind="use").order_by().annotate(day=TruncDate("made")).values_list(*columns)
    rows = []
    for *values, amount in used.annotate(sum=models.Sum("amount")).iterator():
        day, *ids, software = values
        key = " ".join([f"{day:%Y%m%d}", *(str(id or 0) for id in ids), software])
        rows.append(Spend(key=key, amount=amount, **dict(zip(columns, values, strict=True))))
    Spend.objects.bulk_create(rows, batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0012_workstations'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Spend',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=220, unique=True)),
                ('day', models.DateField()),
                ('software', models.CharField(blank=True, max_length=120)),
                ('amount', jobs.models.fields.MoneyField()),
                ('budget', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='jobs.budget')),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.project')),
                ('coretype', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.coretype')),
            ],
            options={
                'indexes': [models.Index(fields=['budget', 'day'], name='spend_of_a_budget')],
            },
        ),
        migrations.AddIndex(
            model_name='charge',
            index=models.Index(fields=['budget', '-id'], name='ledger_of_a_budget'),
        ),
        migrations.RunPython(add_up, migrations.RunPython.noop),
        migrations.RunPython(guard, unguard),
    ]
