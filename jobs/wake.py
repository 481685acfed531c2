"""Wakes the workers: a receiver of `changed` that sends an expiring hint. The only importer of tasks.

A lost hint costs one sweep, a doubled one a query, so a dead broker is no reason to fail a click.
"""
