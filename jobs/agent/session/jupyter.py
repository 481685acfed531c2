"""JupyterLab on a unix socket, its kernels on unix sockets too.

The one idea: who may come to the socket was judged by the portal, so the server asks for no token; all that it listens
on lies in folders of its user alone.
"""
import os
import shlex
import shutil
import tempfile
from typing import Dict, List

from .children import Children
from .main import MISSING, Settings, say

SOCKET = "app.sock"


def run(settings: Settings) -> int:
    """The exit code, once the server has ended."""
    words = _words(settings)
    if not words:
        say("JupyterLab is not installed on this node: pip install jupyterlab (the program is looked for in PATH)")
        return MISSING
    children = Children()
    runtime = tempfile.mkdtemp(prefix="hr-", dir=_short())
    try:
        pid = children.start(words, env=_environment(settings, runtime), cwd=settings.folder)
        while children.code(pid) is None and not children.ending:
            children.wait(5.0)
        children.end(max(1.0, settings.grace - 3.0))
        return children.code(pid) or 0
    finally:
        shutil.rmtree(runtime, ignore_errors=True)


def _words(settings: Settings) -> List[str]:
    """The kind's own command, or JupyterLab; nothing if that is not installed."""
    if settings.start:
        return ["bash", "-c", settings.start]
    program = shutil.which("jupyter-lab")
    return [program, *_options(settings)] if program else []


def _options(settings: Settings) -> List[str]:
    """No token: who may come to the socket was judged before. Cross-site requests are still refused by the server."""
    values = {
        "ServerApp.sock": SOCKET, "ServerApp.sock_mode": "0600", "ServerApp.base_url": settings.base, "ServerApp.root_dir": settings.home,
        "ServerApp.preferred_dir": settings.home, "ServerApp.allow_remote_access": "True", "ServerApp.open_browser": "False",
        "ServerApp.quit_button": "False", "IdentityProvider.token": "", "PasswordIdentityProvider.hashed_password": "",
        "KernelManager.transport": "ipc", "ServerApp.log_level": "WARN", "ServerApp.allow_root": "True",
    }  # fmt: skip
    return ["--%s=%s" % pair for pair in values.items()]


def _environment(settings: Settings, runtime: str) -> Dict[str, str]:
    """For a kind's own command: where to listen, below which path, and JupyterLab's options."""
    own = {"JUPYTER_RUNTIME_DIR": runtime, "SESSION_SOCKET": os.path.join(settings.folder, SOCKET), "SESSION_BASE": settings.base}
    own["SESSION_OPTIONS"] = " ".join(map(shlex.quote, _options(settings)))
    return dict(os.environ, **own)


def _short() -> str:
    """A folder with a short path: a unix socket's has at most 107 bytes, and kernels' names have 50."""
    for folder in ("/tmp", tempfile.gettempdir()):
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return tempfile.gettempdir()
