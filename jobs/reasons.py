"""Every reason for which a workload ends, in one table. Names are for others by way of `lifecycle`, which re-exports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .terms import Outcome, Stage


@dataclass(frozen=True)
class Reason:
    """Why it ended, once: one enumerated code, the outcome that follows, the stage that gets the red X, and words.

    `stage` None means the stage it was in (failed) or none (completed, stopped). `again` offers to try the same once more.
    """

    code: str
    outcome: Outcome
    sentence: str
    stage: Stage | None = None
    advice: str = ""


ENDINGS: Mapping[str, Reason] = {
    reason.code: reason
    for reason in [
        Reason(
            "exit-0",
            Outcome.COMPLETED,
            "The command exited with 0.",
            advice="Exit code 0 is no proof of a good result: look at the output before you use it.",
        ),
        Reason("exit-code", Outcome.FAILED, "The command exited with an error.", Stage.RUNNING, "Read the last lines of the output."),
        Reason("signal", Outcome.FAILED, "The command was killed by a signal.", Stage.RUNNING, "Read the last lines of the output."),
        Reason(
            "out-of-memory",
            Outcome.FAILED,
            "The command was killed because it reached the memory limit.",
            Stage.RUNNING,
            "Take a coretype with more memory, fewer ranks a node, or more nodes.",
        ),
        Reason(
            "walltime",
            Outcome.FAILED,
            "The walltime was over before the command ended.",
            Stage.RUNNING,
            "Clone the job with a longer walltime; what was written so far is among its files.",
        ),
        Reason("node-lost", Outcome.FAILED, "A node of the cluster was lost.", None, "Submit again; nothing was wrong with the input."),
        Reason(
            "budget-used-up",
            Outcome.FAILED,
            "The budget could not pay for more time.",
            None,
            "Every budget that applies must be able to pay, so no other one steps in for it. Ask its owner, then clone the job; what was "
            "written so far is among its files.",
        ),
        Reason(
            "cancelled-outside",
            Outcome.FAILED,
            "The cluster was cancelled on the backend, not here.",
            None,
            "Ask the admin of the cluster who cancelled it.",
        ),
        Reason("findings", Outcome.FAILED, "The input has errors.", Stage.VALIDATING, "Fix the findings and submit again."),
        Reason(
            "validation-broken",
            Outcome.FAILED,
            "The input could not be checked in time.",
            Stage.VALIDATING,
            "Try again; if it happens twice, tell your admin.",
        ),
        Reason("never-starts", Outcome.FAILED, "It can never start.", Stage.QUEUED, "Choose another coretype or fewer cores."),
        Reason("not-up", Outcome.FAILED, "The cluster was not up in time.", Stage.STARTING, "Try again, or take another coretype."),
        Reason("node-broken", Outcome.FAILED, "The cluster could not be started.", Stage.STARTING, "Try again, or take another coretype."),
        Reason(
            "staging-failed",
            Outcome.FAILED,
            "The inputs could not be brought to the cluster.",
            Stage.STARTING,
            "Try again; if a file is named, upload it again.",
        ),
        Reason(
            "no-capacity",
            Outcome.FAILED,
            "There was no capacity before the latest start that was set.",
            Stage.STARTING,
            "Take another coretype or a later start.",
        ),
        Reason(
            "not-saved",
            Outcome.FAILED,
            "Outputs could not be saved.",
            Stage.STOPPING,
            "The Files tab says which files are safe. Ask your admin for room in the storage.",
        ),
        Reason("stopped", Outcome.STOPPED, "Stopped by its owner."),
        Reason("stopped-by-admin", Outcome.STOPPED, "Stopped by an admin."),
        Reason("stopped-by-rule", Outcome.STOPPED, "Stopped by a rule that was set for it."),
        Reason("force-stopped", Outcome.STOPPED, "Force stopped: what was not saved yet was given up."),
    ]
}
SUSPENSIONS: Mapping[str, str] = {
    "wish": "Suspended by a person.",
    "idle": "Suspended because nothing was done in it.",
    "session-ended": "Its session ended by itself.",
    "session-broken": "Its session could not be started.",
    "walltime": "Its longest time in one go was over.",
    "home-missing": "The copy of its home is missing or damaged.",
    **{
        code: ENDINGS[code].sentence
        for code in (
            "node-lost", "out-of-memory", "budget-used-up", "cancelled-outside", "never-starts", "not-up", "node-broken", "staging-failed",
            "no-capacity",
        )
    },
}  # fmt: skip
"""Why a workstation was suspended, or went back to Suspended instead of failing: its home is safe."""
REASON_CHOICES = list({**SUSPENSIONS, **{code: reason.sentence for code, reason in ENDINGS.items()}}.items())
