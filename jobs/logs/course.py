"""What is known of a run's course, beside its logs: the points of the chart that grows.

Written by whoever follows the run (jobs.following), read by the pages.
"""

import json
from pathlib import Path
from typing import Any


def course_dir(directory: Path) -> Path:
    """The folder, within that of an attempt's logs, that the follower keeps its own files in."""
    return directory / "course"


def chart(directory: Path) -> list[dict[str, Any]]:
    """The series of an attempt: name, points [[x, y], ...], tolerance, x (what it counts), logarithmic; empty before the first."""
    try:
        return json.loads((course_dir(directory) / "chart.json").read_text())["series"]
    except FileNotFoundError:
        return []
