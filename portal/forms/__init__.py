"""What people type, checked: paths, walltimes, the form of a new job."""

from .job import InputRow, JobForm, read_inputs

__all__ = ["InputRow", "JobForm", "read_inputs"]
