"""What nodes a cluster has, and `manage.py slurm`, which offers them."""

import sys

import pytest
from django.core.management import CommandError, call_command
from slurm_programs import Programs

from jobs.backends import slurm_kinds
from jobs.backends.slurm_kinds import Kind
from jobs.models import Coretype

ANSWER = "main|64|256000|20|1-00:00:00|(null)\ngpu|32|512000|2|infinite|gpu:a100:4(S:0-1)\nnonsense\nshort|64+|256000+|4|30:00|N/A\n"


@pytest.fixture
def programs(tmp_path, settings):
    made = Programs(tmp_path, sys.executable)
    options = {"notes": str(tmp_path / "notes"), "path": str(made.folder)}
    settings.BACKENDS = settings.BACKENDS | {"slurm": {"BACKEND": "jobs.backends.slurm.Slurm", "OPTIONS": options}}
    return made


def test_kinds_are_read_biggest_first():
    assert slurm_kinds.parse(ANSWER) == [
        Kind("main", 64, 256000 << 20, 20, 86400),
        Kind("short", 64, 256000 << 20, 4, 1800),
        Kind("gpu", 32, 512000 << 20, 2, None, "gpu:a100:4"),
    ]


@pytest.mark.django_db
def test_each_kind_becomes_a_coretype_once(programs, capsys):
    programs.tell("sinfo", says=ANSWER)
    call_command("slurm", "--add", "--price", "0.5")
    Coretype.objects.filter(code="main-64c-250g").update(name="ours now")
    call_command("slurm", "--add")
    assert capsys.readouterr().out.count("(added)") == 3
    gpu = Coretype.objects.get(options__partition="gpu")
    assert (gpu.options["gres"], gpu.max_nodes, gpu.cores) == ("gpu:a100:4", 2, 32)
    main = Coretype.objects.get(name="ours now")
    assert (main.walltime_max, main.price) == (86400, main.price.__class__("0.5"))


def test_a_cluster_that_does_not_answer_is_said_so(programs):
    programs.tell("sinfo", complains="slurm_load_partitions: Unable to contact slurm controller (connect failure)", code=1)
    with pytest.raises(CommandError, match="Slurm does not answer: .*Unable to contact slurm controller"):
        call_command("slurm")


def test_a_wrong_price_is_said_so(programs):
    programs.tell("sinfo", says=ANSWER)
    with pytest.raises(CommandError, match="no price"):
        call_command("slurm", "--add", "--price", "cheap")
