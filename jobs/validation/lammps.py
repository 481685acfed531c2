"""placeholder"""
from __future__ import annotations
def check(request, plan):
    return iter(())
