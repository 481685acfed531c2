"""Jobs under their owner's own account: by whose word, sealed how, and never anybody else's."""

import os
import pwd
import shutil
import sys

import pytest
from backend_clouds import carrying, destroy, eventually
from backend_portal import Portal
from slurm_programs import Programs, full

from jobs.agent import build
from jobs.backends.base import Refused, State
from jobs.backends.slurm import Slurm
from jobs.backends.slurm_accounts import Accounts, behind_sudo

TOKEN = "hrtest-job-aBcDeF-1"
SOMEBODY = pwd.getpwnam("nobody")
"""A person's account, as far as these tests go."""

SUDO = """#!{python}
import json, os, sys
home = {home!r}
with open(os.path.join(home, "sudo-calls"), "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
told = os.path.join(home, "sudo-says")
if os.path.exists(told):
    sys.exit(open(told).read())
words = sys.argv[4:]
os.execv(words[0], words)
"""


@pytest.fixture
def programs(tmp_path):
    made = Programs(tmp_path, sys.executable)
    sudo = made.folder / "sudo"
    sudo.write_text(SUDO.format(python=sys.executable, home=str(made.folder)))
    sudo.chmod(0o755)
    return made


@pytest.fixture
def make(programs, tmp_path):
    def made(mode="mapped", **options):
        given = {"notes": tmp_path / "notes", "path": str(programs.folder), "timeout": 15, "accounts": mode, "key": "secret", **options}
        return Slurm("slurm", **given)

    return made


def sudo_calls(programs):
    path = programs.folder / "sudo-calls"
    return path.read_text() if path.exists() else ""


def seal(slurm, token=TOKEN):
    return slurm._accounts.comment(token, "nobody")


def test_a_mapped_person_submits_by_sudo_and_with_a_seal(programs, make, spec):
    make().create(TOKEN, spec(account="nobody"))
    assert sudo_calls(programs).startswith(f'["-n", "-u", "nobody", "{programs.folder}/sbatch", "--parsable"')
    words = programs.calls("sbatch")[0]
    assert f"--comment={seal(make())}" in words and f"--job-name={TOKEN}" in words
    assert "/headrace-0-nobody" in programs.script or os.geteuid()


def test_where_nobody_is_mapped_the_portals_user_submits_or_nobody_does(programs, make, spec):
    make("mapped").create(TOKEN, spec())
    assert sudo_calls(programs) == "" and len(programs.calls("sbatch")) == 1
    with pytest.raises(Refused, match="has none; an admin maps accounts"):
        make("only").create("hrtest-job-aBcDeF-2", spec())
    make("").create("hrtest-job-aBcDeF-3", spec(account="nobody"))
    assert sudo_calls(programs) == "" and len(programs.calls("sbatch")) == 2


@pytest.mark.parametrize(
    ("account", "words"),
    [
        ("root", "account of the system"), ("daemon", "account of the system"), ("no-such-one", "there is no account"), ("-u", "no name of an account"),
        ("a b", "no name of an account"), ("x;id", "no name of an account"), ("", "has none"), ("../x", "no name of an account"), ("Nobody", "no name of an account"),
    ],
)  # fmt: skip
def test_no_other_account_is_ever_used_and_nothing_is_submitted_instead(programs, make, spec, account, words):
    with pytest.raises(Refused, match=words):
        make("only").create(TOKEN, spec(account=account))
    assert programs.calls("sbatch") == [] and sudo_calls(programs) == ""


@pytest.mark.parametrize(
    "said",
    [
        "sudo: a password is required", "Sorry, user headrace is not allowed to execute '/usr/bin/sbatch' as nobody on login1.",
        "sudo: sorry, you must have a tty to run sudo",
    ],
)  # fmt: skip
def test_a_sudo_without_its_rule_is_a_refusal_in_words(programs, make, spec, said):
    (programs.folder / "sudo-says").write_text(said)
    with pytest.raises(Refused, match="sudo does not let this portal act as nobody"):
        make().create(TOKEN, spec(account="nobody"))


def test_a_job_of_our_name_that_somebody_else_submitted_is_none_of_ours(programs, make, spec):
    slurm, row = make(), f"1|{TOKEN}|RUNNING|0|0|1|main|N/A|None|"
    for comment in ("(null)", TOKEN, f"{TOKEN} 0123456789abcdef0123", seal(slurm).replace("job", "jbo"), "ü"):
        programs.rows(full(row, uid=SOMEBODY.pw_uid, comment=comment))
        assert slurm.describe([TOKEN])[TOKEN].state is State.ABSENT and list(slurm.tokens()) == []
    slurm.create(TOKEN, spec(account="nobody"))  # the impostor does not stand in its way
    assert len(programs.calls("sbatch")) == 1
    programs.rows(full(row, uid=SOMEBODY.pw_uid + 1, comment=seal(slurm)))  # a seal holds for its account alone
    assert slurm.describe([TOKEN])[TOKEN].state is State.ABSENT
    programs.rows(full(row, uid=SOMEBODY.pw_uid, comment=seal(slurm)))
    assert slurm.describe([TOKEN])[TOKEN].state is State.UP and list(slurm.tokens()) == [TOKEN]


def test_a_job_is_cancelled_as_whose_it_is_or_by_an_operator(programs, make):
    slurm = make()
    programs.rows(full(f"7|{TOKEN}|RUNNING|0|0|1|main|N/A|None|", uid=SOMEBODY.pw_uid, comment=seal(slurm)))
    assert not slurm.destroy(TOKEN)
    assert f'"-u", "nobody", "{programs.folder}/scancel", "--quiet", "7"' in sudo_calls(programs)
    before = sudo_calls(programs)
    assert not make(operator=True).destroy(TOKEN)
    assert sudo_calls(programs) == before and programs.calls("scancel")[-1] == ["--quiet", "7"]


def test_accounting_is_believed_of_what_was_submitted_from_here(programs, make, spec):
    slurm = make()
    row = f"7|{TOKEN}|TIMEOUT|0:0|{SOMEBODY.pw_uid}|1796036576|\n"
    programs.tell("sacct", says=row)
    assert slurm.describe([TOKEN])[TOKEN].state is State.ABSENT
    slurm.create(TOKEN, spec(account="nobody"))
    programs.rows()
    assert slurm.describe([TOKEN])[TOKEN].state is State.FAILED
    assert "--allusers" in programs.calls("sacct")[-1]


def test_a_folder_may_hold_the_accounts_name(programs, make, spec):
    make(folder="/scratch/{account}/headrace").create(TOKEN, spec(account="nobody"))
    assert '"/scratch/nobody/headrace"' in programs.script


def test_settings_that_cannot_work_are_refused_at_once(make):
    with pytest.raises(Refused, match="option accounts is one of"):
        make("everybody")
    with pytest.raises(Refused, match="needs the option key"):
        make(key="")


def test_the_seal_is_of_the_key(make):
    assert Accounts("mapped", "a").comment(TOKEN, "nobody") != Accounts("mapped", "b").comment(TOKEN, "nobody")
    assert Accounts("mapped", "a").comment(TOKEN, "") == TOKEN


def test_the_command_line_is_the_one_that_the_readme_gives_sudo():
    assert behind_sudo("anna", "/usr/bin/sbatch", ["--parsable"], "") == ["sudo", "-n", "-u", "anna", "/usr/bin/sbatch", "--parsable"]
    assert behind_sudo("anna", "/usr/bin/scancel", ["7"], "/c")[4:6] == ["SLURM_CONF=/c", "/usr/bin/scancel"]


# --- with sudo and Slurm themselves -------------------------------------------------------------------------------------


@pytest.fixture
def real(slurm, place):
    if os.geteuid() or not shutil.which("sudo"):
        pytest.skip("needs sudo, and root for Slurm's daemons")
    folder = place / "jobs" / "nobody"
    folder.mkdir(parents=True)
    os.chown(folder, SOMEBODY.pw_uid, SOMEBODY.pw_gid)
    where = str(place / "jobs" / "{account}" / "headrace")
    return Slurm("slurm", notes=place / "notes", config=str(slurm.config), folder=where, accounts="only", key="k", timeout=10)


def test_a_mapped_job_runs_as_its_owner_and_is_ended_as_its_owner(slurm, real, place, spec, token):
    portal = Portal("id -un; echo $USER $HOME; echo kept > file; trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    try:
        real.create(token, spec(portal=portal.address, agent=str(build(place / "agent.pyz")), account="nobody"))
        assert eventually(lambda: b"ready\n" in bytes(portal.log), 60), bytes(portal.log)
        assert bytes(portal.log).startswith(b"nobody\nnobody ")
        kept = next((place / "jobs" / "nobody" / "headrace").rglob("file"))
        assert kept.stat().st_uid == SOMEBODY.pw_uid
        assert slurm.ask("squeue", "-h", "-o", "%u").split() == ["nobody"]
        assert "not-to-be-seen" not in slurm.ask("scontrol", "show", "job", "-d", "-o")
        portal.release()
        assert destroy(real, token)
        assert list(real.tokens()) == [] and carrying(token) == []
    finally:
        portal.close()


def test_without_an_account_nothing_runs(slurm, real, spec, token):
    with pytest.raises(Refused, match="an admin maps accounts"):
        real.create(token, spec())
    assert slurm.numbers(token) == []


def test_somebody_who_takes_the_name_of_a_token_changes_nothing(slurm, real, spec, token):
    words = ["sudo", "-n", "-u", "nobody", f"SLURM_CONF={slurm.config}", "sbatch", f"--job-name={token}", f"--comment={token}", "--output=/dev/null"]
    slurm.ask(*words, "--wrap=sleep 600")
    assert len(slurm.numbers(token)) == 1
    assert real.describe([token])[token].state is State.ABSENT
    assert list(real.tokens()) == [] and real.destroy(token)
    assert len(slurm.numbers(token)) == 1
    slurm.ask("scancel", f"--name={token}")
