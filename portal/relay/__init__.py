"""The way from a browser to a workstation: everything below /relay/NAME/.

The one idea: nothing of ours ever connects to a node. A workstation's agent dials one websocket to /relay/NAME/agent, and
all desktops, terminals and notebooks that people open travel as streams of that one. NAME is the cluster's token without
its attempt: it stays over suspend and resume, and as the second part of every path it lets a proxy bring an agent and its
viewers to the same web process.

    frames   what a message on the agent's websocket looks like
    lines    an agent's websocket and its streams, with credit; the agents that are connected here
    agents   the agent's end of it
    access   who may use a workstation, and how far
    rfb      what a viewer says to a desktop: told apart, so that looking can be all that somebody may do
    sockets  desktops and terminals in a browser
    present  who is looking, noted beside the logs for every page to read
    picture  a small picture of a desktop
    tickets  sealed passes for the host name on which applications live
    apps     JupyterLab and its like, by a reverse proxy on a host name of their own
"""

from .application import application, nothing
from .lines import name_of
from .present import viewers

__all__ = ["application", "name_of", "nothing", "viewers"]
