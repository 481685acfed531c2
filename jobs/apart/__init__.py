"""Reads what solvers wrote in a child process that has a limit of memory and a deadline: the worker itself never does.

One idea: output is hostile. A child that explodes or hangs costs one answer, which says so; the next question starts a new
one. The child knows neither Django nor the database; it opens what the parent names and asks it for all other bytes.
"""

from .parent import Child, Children, Exploded

__all__ = ["Child", "Children", "Exploded"]
