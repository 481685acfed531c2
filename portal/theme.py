"""How the administration looks: the accent of the portal, and its pages in groups. Read by settings; imports no model."""

from __future__ import annotations

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy

HUE = 212
LIGHTNESS = {"50": 97, "100": 94, "200": 89, "300": 82, "400": 72, "500": 58, "600": 43, "700": 37, "800": 31, "900": 26, "950": 20}
GROUPS = {
    "People": [
        ("People", "auth_user", "person"), ("Groups", "auth_group", "badge"), ("Projects", "jobs_project", "groups"),
        ("Failed sign-ins", "portal_signintry", "lock"),
    ],
    "Catalogue": [
        ("Coretypes", "jobs_coretype", "memory"), ("Regions", "jobs_region", "location_on"), ("Software", "jobs_software", "apps"),
        ("Kinds of workstations", "jobs_workstationkind", "desktop_windows"),
    ],
    "Money": [
        ("Budgets", "jobs_budget", "account_balance_wallet"), ("Holds", "jobs_hold", "lock_clock"),
        ("Charges", "jobs_charge", "receipt_long"),
    ],
    "Work": [
        ("Workloads", "jobs_workload", "work"), ("Clusters", "jobs_cluster", "dns"), ("Files", "jobs_storedfile", "description"),
        ("Copies of homes", "jobs_homecopy", "home_storage"),
    ],
    "Watch": [
        ("Unknown machines", "jobs_stray", "help"), ("Events", "jobs_event", "timeline"), ("Audit log", "jobs_auditentry", "fact_check"),
    ],
}
"""Title: (word, app and model, icon)."""


def _item(word: str, model: str, icon: str) -> dict[str, Any]:
    return {"title": word, "icon": icon, "link": reverse_lazy(f"admin:{model}_changelist")}


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Headrace", "SITE_HEADER": "Headrace", "SITE_SUBHEADER": "Administration", "SITE_URL": "/", "SITE_SYMBOL": "water",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("img/icon.svg")}],
    "COLORS": {"primary": {step: f"oklch({light}% .075 {HUE})" for step, light in LIGHTNESS.items()}},
    "SIDEBAR": {
        "show_search": False, "show_all_applications": False,
        "navigation": [{"title": title, "items": [_item(*row) for row in rows]} for title, rows in GROUPS.items()],
    },
}
