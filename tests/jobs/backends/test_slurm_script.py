"""What sbatch is given: numbers, our token and checked options, whatever somebody wrote somewhere."""

import json
import sys

import pytest
from slurm_programs import Programs

from jobs.backends import slurm_node
from jobs.backends.base import Refused
from jobs.backends.slurm import Slurm

TOKEN = "hrtest-job-aBcDeF-1"
HOSTILE = ["x'; touch /tmp/pwned; echo '", "a$(touch /tmp/pwned)", "a\n#SBATCH --qos=vip", "--wrap=id", "", " ", "a b", "%s%n", "ü", "x" * 10_000]


@pytest.fixture
def programs(tmp_path):
    return Programs(tmp_path, sys.executable)


@pytest.fixture
def slurm(programs, tmp_path):
    return Slurm("slurm", notes=tmp_path / "notes", path=str(programs.folder), defaults={"partition": "main"}, margin=600)


def test_every_option_is_one_word(programs, slurm, spec):
    options = {"account": "wing", "qos": "normal", "constraint": "skylake&ib", "licenses": "solver@server:2", "gres": "gpu:a100:2"}
    options |= {"reservation": "monday", "exclusive": True, "extra_time": 90, "partition": "long"}
    slurm.create(TOKEN, spec(nodes=2, cores=3, memory=5 << 30, walltime=3600, options=options))
    words = programs.calls("sbatch")[0]
    assert {f"--{name}={value}" for name, value in options.items() if isinstance(value, str)} <= set(words)
    assert {"--nodes=2", "--ntasks-per-node=3", "--mem=5120M", "--time=72", "--exclusive", "--no-requeue"} <= set(words)
    assert {f"--job-name={TOKEN}", f"--comment={TOKEN}"} <= set(words)


@pytest.mark.parametrize("name", ["partition", "account", "qos", "constraint", "licenses", "gres", "reservation"])
@pytest.mark.parametrize("value", [value for value in HOSTILE if value] + [["main"], 3, {"a": 1}])
def test_an_option_that_is_no_plain_word_is_refused(programs, slurm, spec, name, value):
    with pytest.raises(Refused, match=f"option {name} cannot be"):
        slurm.create(TOKEN, spec(options={name: value}))
    assert programs.calls("sbatch") == []


@pytest.mark.parametrize("options", [{"extra_time": "60"}, {"extra_time": -1}, {"extra_time": True}, {"exclusive": "yes"}, {"wrap": "id"}])
def test_options_have_their_types_and_others_do_not_exist(programs, slurm, spec, options):
    with pytest.raises(Refused):
        slurm.create(TOKEN, spec(options=options))
    assert programs.calls("sbatch") == []


@pytest.mark.parametrize("token", HOSTILE)
def test_what_is_no_token_names_no_job(programs, slurm, spec, token):
    with pytest.raises(Refused):
        slurm.create(token, spec())
    assert slurm.destroy(token)
    assert programs.calls("sbatch") == programs.calls("scancel") == []


def test_the_script_is_one_srun_and_one_line_of_json(programs, slurm, spec):
    hostile = "x\nHEADRACE_END\n#SBATCH --qos=vip\n$(id)'\""
    slurm.create(TOKEN, spec(secret=hostile, portal=f"http://{hostile}"))
    lines = programs.script.splitlines()
    assert [line for line in lines if line.startswith("#")] == ["#!/bin/bash"]
    assert lines.count("HEADRACE_END") == 1
    assert len(lines) == 7
    told = json.loads(lines[4])
    assert told["config"]["secret"] == hostile


def test_the_secret_is_no_word_of_any_command(programs, slurm, spec):
    slurm.create(TOKEN, spec())
    slurm.describe([TOKEN])
    assert "not-to-be-seen" in programs.script
    assert "not-to-be-seen" not in (programs.folder / "calls").read_text()


def test_commands_of_slurm_do_not_inherit_the_portals_secrets(slurm, monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY", "very secret")
    another = Slurm("slurm", notes=tmp_path)
    assert "very secret" not in another._commands.run(["env"], 10)


@pytest.mark.parametrize("options", [{"folder": "relative"}, {"python": "python3; id"}, {"python": ""}, {"nonsense": 1}, {"defaults": {"partition": "a b"}}])
def test_wrong_options_of_the_backend_are_refused_at_start(tmp_path, options):
    with pytest.raises(Refused):
        Slurm("slurm", notes=tmp_path, **options)


def test_a_command_sees_the_variables_of_its_job_and_not_of_the_agents_step():
    found = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "CUDA_VISIBLE_DEVICES": "1", "HOME": "/"}
    assert slurm_node.of_the_job(found, nodes=2, cores=4) == {
        "SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "1", "SLURM_NTASKS": "8", "SLURM_NPROCS": "8", "SLURM_TASKS_PER_NODE": "4(x2)",
        "SLURM_NNODES": "2", "SLURM_NODEID": "0",
    }  # fmt: skip


def test_a_folder_that_somebody_else_made_is_not_used(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="not a folder of ours"):
        slurm_node.own(str(tmp_path / "link"))
