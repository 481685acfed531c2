"""What a workstation's agent is told of its session: the answer to hello.

One idea: the session is the command of a cluster and its home is the job folder, so everything but this one dictionary is
what jobs have.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

from .models import Workload, Workstation
from .tokens import token_of

SOLVERS = (
    "ccx", "ccx_*", "*Foam", "lmp", "lmp_*", "gmx", "gmx_*", "mdrun*", "pw.x", "ph.x", "cp.x", "nwchem", "code_saturne", "cs_solver",
    "SU2_*", "elmersolver*", "ElmerSolver*", "abaqus*", "ansys*", "fluent*", "starccm*", "nastran*", "comsol*", "mpirun", "mpiexec",
    "orterun", "srun", "prterun",
)  # fmt: skip
"""Programs that are work even while they wait: names as the kernel has them, with * as in a shell."""
GEOMETRY = "1280x800"


def spec_for(workload_id: int) -> dict[str, Any]:
    """All that the head needs to know of a workstation."""
    station = Workstation.objects.select_related("kind", "workload__coretype").get(pk=workload_id)
    work, kind, home = station.workload, station.kind, station.home
    return {
        "commands": [],
        "pipefail": False,
        "environment": {},
        "inputs": [],
        "streams": {"stdout": None},
        "stop_command": kind.save_command or None,
        "grace": kind.grace,
        "log_head": settings.LOG_HEAD,
        "log_tail": settings.LOG_TAIL,
        "cores": work.cores,
        "memory": work.coretype.memory,
        "nodes": work.nodes,
        "session": {
            "kind": kind.session,
            "start": kind.start,
            "base": f"/relay/{name_of(work)}/app/",
            "geometry": GEOMETRY,
            "home": {"copy": home.pk, "size": home.size, "sha256": home.sha256} if home else None,
            "every": kind.copy_every,
            "limit": kind.home_limit,
            "solvers": list(SOLVERS),
        },
    }


def name_of(work: Workload) -> str:
    """Its token without the attempt: the same over suspend and resume."""
    return token_of(work).rpartition("-")[0]
