"""Every address of the portal. Each noun has its own list, at the end of its views."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from portal.api.v2 import urls as api
from portal.views import (
    account,
    actions,
    audit,
    budget_edit,
    budgets,
    files,
    hardware,
    hardware_edit,
    health,
    help,
    installed,
    jobs,
    limits,
    log,
    new,
    outputs,
    projects,
    queue,
    sending,
    shortcuts,
    slurm,
    tokens,
    uploads,
    webhooks,
    workstation_actions,
    workstation_files,
    workstation_new,
    workstation_shares,
    workstations,
)

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="jobs"), name="home"),
    path("admin/", admin.site.urls),
    path("api/v2/", api()),
    path("jobs/", include(new.urlpatterns)),  # before the pages of one job: "new" is no public id
    path("jobs/", include(jobs.urlpatterns)),
    path("jobs/", include(actions.urlpatterns)),
    path("jobs/", include(queue.urlpatterns)),
    path("jobs/", include(outputs.urlpatterns)),
    path("jobs/", include(log.urlpatterns)),
    path("workstations/", include(workstation_new.urlpatterns)),  # before the pages of one: "new" and "shared" are no public ids
    path("workstations/", include(workstation_shares.urlpatterns)),
    path("workstations/", include(workstations.urlpatterns)),
    path("workstations/", include(workstation_actions.urlpatterns)),
    path("workstations/", include(workstation_files.urlpatterns)),
    path("", include(uploads.urlpatterns)),
    path("", include(sending.urlpatterns)),  # before one file: "send" is no public id
    path("", include(files.urlpatterns)),
    path("", include(slurm.urlpatterns)),
    path("", include(limits.urlpatterns)),
    path("", include(hardware_edit.urlpatterns)),
    path("", include(hardware.urlpatterns)),
    path("", include(installed.urlpatterns)),
    path("", include(audit.urlpatterns)),
    path("", include(budget_edit.urlpatterns)),
    path("", include(budgets.urlpatterns)),
    path("", include(projects.urlpatterns)),
    path("", include(help.urlpatterns)),
    path("", include(account.urlpatterns)),
    path("", include(tokens.urlpatterns)),
    path("", include(webhooks.urlpatterns)),
    path("", include(health.urlpatterns)),
    path("", include(shortcuts.urlpatterns)),  # last: what is a page is none
]
