"""What programs talk to: the agents' reports (nodes.py) and the public API."""
