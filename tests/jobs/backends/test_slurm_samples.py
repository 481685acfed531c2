"""What Slurm's commands print, from 22.05 to 25.x: the first as recorded from real daemons, the others as they differ."""

import os
from datetime import UTC, datetime

import pytest

from jobs.backends import slurm_look
from jobs.backends.base import State, TryAgain
from jobs.backends.slurm_accounts import Accounts
from jobs.backends.slurm_kinds import Kind
from jobs.backends.slurm_kinds import parse as kinds
from jobs.backends.slurm_queue import FIELDS, parse, parse_accounts
from jobs.backends.slurm_words import describe

TOKEN = "hrtest-job-aBcDeF-1"
START = datetime(2026, 11, 30, 11, 2, 56, tzinfo=UTC)
ME = str(os.geteuid())
OURS = Accounts("", "").ours
HEADS = {
    "22.05": "JOBID NAME STATE EXIT_CODE RESTART_COUNT NODES PARTITION START_TIME END_TIME USER COMMENT REASON",
    "25.x": "JOBID NAME STATE EXIT_CODE RESTARTCNT NODES PARTITION START_TIME END_TIME UID COMMENT REASON",
}
ROWS = {  # by version and state: cells as they are printed
    ("22.05", "RUNNING"): ["3", TOKEN, "RUNNING", "0", "0", "4", "main", "1796036576", "1796040176", ME, TOKEN, "None"],
    ("25.x", "RUNNING"): ["3", TOKEN, "RUNNING", "0:0", "0", "4", "main", "2026-11-30T11:02:56", "2026-11-30T12:02:56", ME, TOKEN, "None"],
    ("22.05", "PENDING"): ["3", TOKEN, "PENDING", "0", "0", "4", "main", "1796036576", "N/A", ME, TOKEN, "Resources"],
    ("25.x", "PENDING"): ["3", TOKEN, "PENDING", "0:0", "0", "4-4", "main", "2026-11-30T11:02:56", "N/A", ME, "", "Resources"],
    ("22.05", "FAILED"): ["3", TOKEN, "FAILED", "18176", "0", "4", "main", "1796036576", "1796036577", ME, "(null)", "NonZeroExitCode"],
    ("25.x", "FAILED"): ["3", TOKEN, "FAILED", "71:0", "0", "4", "main", "2026-11-30T11:02:56", "2026-11-30T11:02:57", ME, "", "NonZeroExitCode"],
}  # fmt: skip


def printed(version, *rows):
    """Columns padded to their width, each with its bar, as --Format prints them."""
    lines = [HEADS[version].split(), *rows]
    return "".join("".join(cell[:size].ljust(size) + "|" for cell, size in zip(line, FIELDS.values(), strict=True)) + "\n" for line in lines)


@pytest.mark.parametrize("version", HEADS)
@pytest.mark.parametrize(
    ("state", "told", "words"),
    [
        ("RUNNING", State.UP, ""), ("PENDING", State.PENDING, "Waits for 4 nodes in partition main: not enough nodes are free."),
        ("FAILED", State.FAILED, "The job's folder could not be made on a node (option folder)"),
    ],
)  # fmt: skip
def test_squeue_is_read_alike_in_all_versions(version, state, told, words):
    (job,) = parse(printed(version, ROWS[version, state]), OURS)[TOKEN]
    found = describe(job)
    assert (found.state, found.why) == (told, words)
    assert job.start == START and job.nodes == 4 and job.uid == ME


@pytest.mark.parametrize("text", ["", "\n", "slurm_load_jobs error: Socket timed out\n", '{"jobs": []}\n'])
def test_what_is_no_table_is_no_answer(text):
    with pytest.raises(TryAgain):
        parse(text, OURS)


def test_a_name_cut_off_or_a_line_broken_off_is_nobodys():
    whole = printed("22.05", ROWS["22.05", "RUNNING"])
    assert parse(whole[:-350], OURS) == {}
    assert parse(whole.replace(TOKEN, "x" * 200)[: len(whole)], OURS) == {}


@pytest.mark.parametrize("end", ["1796036576", "2026-11-30T11:02:56", "Unknown"])
@pytest.mark.parametrize(
    ("cells", "state", "words"),
    [
        ("CANCELLED by 0|0:15", "CANCELLED", "Cancelled on the cluster by root"), ("CANCELLED|0:15", "CANCELLED", "Cancelled on the cluster"),
        ("TIMEOUT|0:0", "TIMEOUT", "Out of time"), ("OUT_OF_MEMORY|0:125", "OUT_OF_MEMORY", "Out of memory"), ("NODE_FAIL|1:0", "NODE_FAIL", "A node failed"),
        ("FAILED|0:9", "FAILED", "The agents were killed on the node (signal 9)"), ("FAILED|3:0", "FAILED", "The agents ended, says Slurm (exit code 3)"),
    ],
)  # fmt: skip
def test_sacct_is_read_alike_in_all_versions(cells, state, words, end):
    job = parse_accounts(f"3|{TOKEN}|{cells}|{ME}|{end}|\n", OURS)[TOKEN]
    assert job.state == state and describe(job).why.startswith(words)
    assert job.end == (None if end == "Unknown" else START)


@pytest.mark.parametrize("none", ["(null)", "N/A", ""])
def test_sinfo_is_read_alike_in_all_versions(none):
    text = f"main|64+|256000+|20|1-00:00:00|{none}\ngpu|32|512000|2|infinite|gpu:a100:4(S:0-1)\nnew|8|16000|1|UNLIMITED|gpu:h100:2(S:0),tmp:10G\n"
    assert kinds(text) == [
        Kind("main", 64, 256000 << 20, 20, 86400),
        Kind("gpu", 32, 512000 << 20, 2, None, "gpu:a100:4"),
        Kind("new", 8, 16000 << 20, 1, None, "gpu:h100:2"),
    ]


@pytest.mark.parametrize(("version", "old"), [("slurm-wlm 22.05.8", False), ("slurm 25.05.3-1", False), ("slurm 20.11.9", True), ("slurm 21.08.8-2", True)])
def test_versions_are_told_apart(version, old):
    found = {"version": version, "troubles": []}
    slurm_look._check_version(found)
    assert bool(found["troubles"]) is old


@pytest.mark.parametrize(("storage", "kept"), [("accounting_storage/slurmdbd", True), ("accounting_storage/none", False), ("(null)", False), ("", False)])
def test_accounting_is_known_by_its_plugin(storage, kept):
    found = {"notes": [], "troubles": []}
    slurm_look._check_config(found, f"AccountingStorageType   = {storage}\nClusterName = x\nPrivateData = jobs,usage\n", "mapped")
    assert found["accounting"] is kept and "PrivateData" in found["troubles"][0]
