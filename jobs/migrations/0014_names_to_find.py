from django.db import migrations, models

NAMES = """
CREATE FUNCTION headrace_pieces(words text, size int) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(DISTINCT substr(lower(words), least(i, length(words) - size + 1), size)) FROM generate_series(1, length(words), size) AS i
$$;
CREATE FUNCTION headrace_tokens(words text, owner bigint, project bigint) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
  SELECT array_agg(DISTINCT substr(lower(words), i, n)) || ARRAY['owner:' || owner, 'project:' || COALESCE(project, 0)]
  FROM generate_series(2, 3) AS n, generate_series(1, length(words) - n + 1) AS i
$$;
CREATE TABLE headrace_names (workload_id bigint PRIMARY KEY, name text NOT NULL, owner_id bigint NOT NULL, project_id bigint);
INSERT INTO headrace_names SELECT id, name, owner_id, project_id FROM jobs_workload;
CREATE INDEX headrace_names_tokens ON headrace_names USING gin (headrace_tokens(name, owner_id, project_id));

CREATE FUNCTION headrace_name_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO headrace_names VALUES (NEW.id, NEW.name, NEW.owner_id, NEW.project_id) ON CONFLICT (workload_id)
    DO UPDATE SET name = excluded.name, owner_id = excluded.owner_id, project_id = excluded.project_id;
  RETURN NULL;
END $$;
CREATE FUNCTION headrace_name_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE headrace_names;
  ELSE
    DELETE FROM headrace_names WHERE workload_id = OLD.id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER headrace_name_made AFTER INSERT ON jobs_workload FOR EACH ROW EXECUTE FUNCTION headrace_name_kept();
CREATE TRIGGER headrace_name_changed AFTER UPDATE OF name, owner_id, project_id ON jobs_workload FOR EACH ROW
  WHEN (OLD.name <> NEW.name OR OLD.owner_id <> NEW.owner_id OR OLD.project_id IS DISTINCT FROM NEW.project_id)
  EXECUTE FUNCTION headrace_name_kept();
CREATE TRIGGER headrace_name_gone AFTER DELETE ON jobs_workload FOR EACH ROW EXECUTE FUNCTION headrace_name_gone();
CREATE TRIGGER headrace_names_gone AFTER TRUNCATE ON jobs_workload FOR EACH STATEMENT EXECUTE FUNCTION headrace_name_gone();
"""
NO_NAMES = """
DROP TRIGGER headrace_name_made ON jobs_workload;
DROP TRIGGER headrace_name_changed ON jobs_workload;
DROP TRIGGER headrace_name_gone ON jobs_workload;
DROP TRIGGER headrace_names_gone ON jobs_workload;
DROP TABLE headrace_names;
DROP FUNCTION headrace_name_kept, headrace_name_gone, headrace_tokens, headrace_pieces;
"""


def keep_names(apps, schema_editor):
    """See jobs.models.searching. A table beside the workloads: an index on them would be written with each change of status."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(NAMES, params=None)


def forget_names(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(NO_NAMES, params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0013_spend_by_day'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='workload',
            name='jobs_worklo_status_b184d7_idx',
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(fields=['status', '-id'], include=('owner', 'project', 'archived', 'kind'), name='workload_by_status'),
        ),
        migrations.RunPython(keep_names, forget_names),
    ]
