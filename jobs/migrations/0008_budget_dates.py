from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0007_queue_choices_limits_pools'),
    ]

    operations = [
        migrations.AddField(
            model_name='budget',
            name='begins',
            field=models.DateTimeField(blank=True, editable=False, help_text='Of use from here on; empty: at once', null=True),
        ),
        migrations.AddField(
            model_name='budget',
            name='ends',
            field=models.DateTimeField(blank=True, editable=False, help_text='Of use up to here; empty: until it is used up', null=True),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(
                condition=models.Q(('begins', None), ('ends', None), ('ends__gt', models.F('begins')), _connector='OR'),
                name='budget_ends_after_it_begins',
            ),
        ),
        migrations.AddField(
            model_name='installation',
            name='unpaid',
            field=models.CharField(
                choices=[('admins', 'Admins only, as soon as there is any budget'), ('everybody', 'Everybody')],
                default='admins',
                help_text='Who may run what no budget pays for',
                max_length=12,
            ),
        ),
    ]
