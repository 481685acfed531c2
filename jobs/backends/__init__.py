"""Backends: translators between us and something that has machines. base.py holds the contract."""
