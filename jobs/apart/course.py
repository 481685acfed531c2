"""Where a series is heading: falling, rising or steady, and where it would meet its tolerance if it goes on like that.

Only said where the last points lie on a line (of the logarithm, for residuals): a saw tooth promises nothing.
"""

from __future__ import annotations

import math
from typing import Any

from ..verdicts.base import Series

LAST = 40
"""Points of the chart that count."""
LEAST = 6
FIT = 0.6
"""Share of the variation that the line must explain before it may promise anything."""
FAR = 20
"""Times the way so far beyond which nothing is promised."""


def of(series: Series) -> dict[str, Any]:
    """The series in a few words: name, last point, tolerance, direction and the x at which the tolerance is expected."""
    x, y = series.points[-1]
    slope, fit = _line(series)
    direction = _direction(series, slope)
    reach = None
    if series.tolerance and series.logarithmic and direction == "falling" and fit >= FIT and y > series.tolerance > 0:
        reach = x + (math.log10(series.tolerance) - math.log10(y)) / slope
        reach = reach if reach < FAR * max(x, 1.0) else None
    return {"name": series.name, "x": x, "y": y, "tolerance": series.tolerance, "direction": direction, "reach": reach}


def together(found: list[dict[str, Any]]) -> str:
    """One word for all of them: rising if any rises, falling if most fall; empty where nothing is clear."""
    ways = [one["direction"] for one in found if one["tolerance"] is None or one["y"] > one["tolerance"]]
    if "rising" in ways:
        return "rising"
    return "falling" if ways and ways.count("falling") * 2 > len(ways) else ""


def _direction(series: Series, slope: float) -> str:
    """Falling or rising by more than a twentieth of a decade over the last points; only said of residuals."""
    points = series.points[-LAST:]
    if not series.logarithmic or len(points) < LEAST:
        return ""
    change = slope * (points[-1][0] - points[0][0])
    return "falling" if change < -0.05 else "rising" if change > 0.05 else "steady"


def _line(series: Series) -> tuple[float, float]:
    """Slope of the straight line through the last points, and the share of the variation that it explains."""
    points = [(x, math.log10(y)) for x, y in series.points[-LAST:] if y > 0] if series.logarithmic else []
    if len(points) < LEAST:
        return 0.0, 0.0
    mx, my = (sum(values) / len(points) for values in zip(*points, strict=True))
    sxx = sum((x - mx) ** 2 for x, _ in points)
    syy = sum((y - my) ** 2 for _, y in points)
    sxy = sum((x - mx) * (y - my) for x, y in points)
    return (sxy / sxx, sxy * sxy / (sxx * syy)) if sxx and syy else (0.0, 0.0)
