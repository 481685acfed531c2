"""A job as JSON: short in a list, whole at its own address."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from jobs import ledger
from jobs.models import Choice, Workload

from . import statuses
from .found import tags_of
from .moments import when


def short(work: Workload) -> dict[str, Any]:
    """From rows that were fetched along: no query."""
    return {
        "id": work.public_id,
        "name": work.name,
        "owner": work.owner.email or work.owner.get_username(),
        "dateInserted": when(work.made),
        "analysisNames": [work.job.software.software.name],
        "sharedWith": [],
        "storage": 0,
        "isVisible": not work.archived,
        "jobStatus": {"content": statuses.newest(work)},
        "clusterStatusDisplay": {"content": statuses.newest_cluster(work)},
        "tags": tags_of(work),
        **statuses.truth(work),
    }


def whole(work: Workload, request: HttpRequest) -> dict[str, Any]:
    cost = ledger.cost(work, timezone.now())
    return {
        **short(work),
        "description": work.job.description,
        "isLowPriority": work.economy,
        "projectId": work.project.code if work.project else None,
        "jobanalyses": [_analysis(work)],
        "jobvariables": [],
        "expectedRuns": 1,
        "includeNominalRun": False,
        "isTemplateDryRun": False,
        "dateSubmitted": when(work.submitted),
        "dateCompleted": when(work.ended),
        "url": request.build_absolute_uri(f"/jobs/{work.public_id}/"),
        "cost": f"{cost.spent:f}",
        "costAtMost": f"{cost.at_most:f}",
        "verdictDetail": work.job.verdict_detail or None,
    }


def _analysis(work: Workload) -> dict[str, Any]:
    job, kind = work.job, work.coretype
    return {
        "analysis": {"code": job.software.software.code, "version": job.software.code, "name": job.software.software.name},
        "command": job.command,
        "envVars": job.environment,
        "pipefail": job.pipefail,
        "useMpi": False,
        "flags": {},
        "useRescaleLicense": False,
        "userDefinedLicenseSettings": {"featureSets": []},
        "hardware": {
            "coreType": kind.code,
            "coresPerSlot": work.total_cores,
            "cores": work.total_cores,
            "nodes": work.nodes,
            "slots": 1,
            "walltime": work.walltime / 3600,
            "alternatives": [_choice(one) for one in work.choices.select_related("coretype") if one.place != work.choice],
            "choice": work.choice,
            "coreSummary": {"memoryPerNode": kind.memory, "numberOfNodes": work.nodes, "storagePerNode": 0},
        },
        "inputFiles": [{"id": use.file.public_id, "name": use.name, "decompress": use.unpack} for use in job.inputs.select_related("file")],
    }


def _choice(one: Choice) -> dict[str, Any]:
    return {"coreType": one.coretype.code, "cores": one.total_cores, "nodes": one.nodes}
