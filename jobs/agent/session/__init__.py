"""What runs as a workstation's user: the desktop, JupyterLab or terminal that the agent's relay connects people to.

The one idea: a session offers its service on a unix socket in a folder that is its user's alone, and nothing on the
network. It is started and ended by the holder like any command; it knows no portal.
"""
