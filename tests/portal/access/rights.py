"""Which addresses there are, by whom may see and change what lies there.

The addresses come from the resolver: one that is not classified here fails a test, so that nobody forgets it. Expected is
what a GET (or the POST of an action) must not give away: 404 for strangers on what is somebody's, sign-in for the anonymous.
"""

from __future__ import annotations

from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

SHA_OF_HI = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
ROLES = ("owner", "member", "stranger", "anonymous", "admin")
OPEN = {"health", "signin", "signout", "home"}
"""Answers anybody; tells nothing of anybody's."""
OWN = {"account", "password", "tokens", "files", "files-send", "file-arrived", "help", "hardware", "hardware-day", "hardware-software", "jobs", "job-new", "job-new-input", "job-sample",
       "projects", "budget", "upload", "workstations", "workstation-new", "webhooks"}  # fmt: skip
"""Signed-in people; shows only what is theirs."""
JOB_SEEN = {"job", "job-output", "job-files", "job-health", "job-health-data", "job-timeline", "job-settings", "job-zip", "job-file",
            "job-file-view", "job-input", "log-bytes", "log-lines", "log-search", "log-download", "job-series"}  # fmt: skip
JOB_CHANGED = {"job-stop", "job-archive", "job-delete", "job-submit", "job-extend", "job-change", "job-offer"}
DESK_SEEN = {
    "workstation",
    "workstation-files",
    "workstation-health",
    "workstation-health-data",
    "workstation-timeline",
    "workstation-settings",
}
DESK_CHANGED = {"workstation-submit", "workstation-suspend", "workstation-resume", "workstation-stop", "workstation-keep", "workstation-stay",
                "workstation-delete", "workstation-share", "workstation-share-revoke"}  # fmt: skip
DESK_OWNED = {
    "workstation-open",
    "workstation-copy",
    "workstation-take",
    "workstation-job",
    "workstation-copy-file",
    "workstation-sent-back",
}
"""Of a workstation: seen by its project; changed by owner, lead, admin; its session and home are its owner's alone."""
JOB_COPIED = {"job-clone", "job-resubmit"}
ELSEWHERE = {
    "workstation-clone",
    "workstation-shared",
    "upload-part",
    "file",
    "file-delete",
    "token-revoke",
    "budget-one",
    "project",
    "member-remove",
    "stray",
    "webhook",
    "webhook-switch",
    "webhook-delete",
    "webhook-test",
    "webhook-again",
}
"""Somebody's things beside jobs: strangers get 404 (403 where only the right lacks)."""
ROLES_OF_MONEY_AND_HARDWARE = {
    *("audit", "audit-csv", "budget-adjust", "budget-close", "budget-csv", "budget-edit", "budget-new", "budget-spend", "budgets-all"),
    *("cluster-release", "coretype", "coretype-delete", "coretype-look", "coretype-new", "coretype-offer", "coretypes", "hardware-export"),
    *("hardware-slurm", "hardware-slurm-look", "hardware-slurm-give-up", "hardware-accounts", "hardware-account-remove"),
    *("limits", "limit", "limit-new", "limit-delete"),
    *("hardware-import", "region", "region-new", "budget-unpaid"),
}
"""Leads, admins and auditors differ here: test_roles.py has their matrix."""


def names() -> set[str]:
    found: set[str] = set()

    def walk(patterns, prefix: str = "") -> None:
        for pattern in patterns:
            here = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver) and not here.startswith(("admin/", "api/")):
                walk(pattern.url_patterns, here)
            elif isinstance(pattern, URLPattern) and pattern.name:
                found.add(pattern.name)

    walk(get_resolver().url_patterns)
    return found


def addresses(job) -> dict[str, str]:
    use = job.job.inputs.get()
    found = {}
    for name in names() & (JOB_SEEN | JOB_CHANGED | JOB_COPIED):
        for args in ([job.public_id], [job.public_id, 0], [job.public_id, use.pk]):
            try:
                found[name] = reverse(name, args=args)
            except NoReverseMatch:
                continue
            if name != "job-input":
                break
    return found


def desk_address(name, desk) -> str:
    args = {"workstation-copy-file": ["c0ffee00c0ffee00", 0], "workstation-share-revoke": [desk.workstation.shares.get().pk]}
    args["workstation-sent-back"] = [desk.workstation.sent.get().pk]
    args |= dict.fromkeys(("workstation-copy", "workstation-take", "workstation-job"), ["c0ffee00c0ffee00"])
    return reverse(name, args=[desk.public_id, *args.get(name, [])])
