"""What the pages load: fetched once, complete, nothing from elsewhere, nothing that the strict policy would refuse."""

import ast
import json
import re
import stat
import sys
from pathlib import Path

import pytest

from jobs import lifecycle
from portal import assets

ROOT = Path(assets.__file__).resolve().parent.parent
STATIC, TEMPLATES = ROOT / "static", ROOT / "templates"
ICON = """<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">
  <path stroke="none" d="M0 0h24v24H0z" fill="none"/><path d="M5 12l5 5l10 -10" /></svg>"""


def templates():
    return {path.relative_to(TEMPLATES): path.read_text() for path in TEMPLATES.rglob("*.html")}


@pytest.fixture
def static(tmp_path):
    """A static folder with the real lock file and nothing fetched."""
    folder = tmp_path / "static"
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_bytes((STATIC / name).read_bytes())
    return folder


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """An npm that writes what is asked for without any registry, and counts how often it ran."""
    script, runs = tmp_path / "npm.py", tmp_path / "runs"
    names = [*assets.SERVED, *assets.SERVED_TO_TESTS, *[f"@tabler/icons/icons/outline/{name}.svg" for name in assets.ICONS]]
    script.write_text(
        "import pathlib, sys\n"
        f"pathlib.Path({str(runs)!r}).open('a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"for name in {names!r}:\n"
        "    path = pathlib.Path('node_modules', name)\n"
        "    path.parent.mkdir(parents=True, exist_ok=True)\n"
        f"    path.write_text({ICON!r})\n"
    )
    monkeypatch.setattr(assets, "npm", lambda: [sys.executable, str(script)])
    return lambda: runs.read_text().splitlines() if runs.exists() else []


def failing_npm(tmp_path, monkeypatch, words):
    script = tmp_path / "npm.py"
    script.write_text(f"import sys\nsys.stderr.write({words!r})\nsys.exit(1)\n")
    monkeypatch.setattr(assets, "npm", lambda: [sys.executable, str(script)])


def test_fetching_keeps_what_is_served_and_builds_the_sprite(static, npm):
    assert assets.fetch(static) is True
    kept = {str(path.relative_to(static / "node_modules")) for path in (static / "node_modules").rglob("*") if path.is_file()}
    assert kept == set(assets.SERVED)
    assert (static / "build" / "icons.svg").read_text().count("<symbol ") == len(assets.ICONS)
    assert "--ignore-scripts" in npm()[0]
    assert "--omit=dev" in npm()[0]


def test_fetching_again_does_nothing_until_the_lock_changes(static, npm):
    assert [assets.fetch(static), assets.fetch(static)] == [True, False]
    lock = static / "package-lock.json"
    lock.write_text(lock.read_text().replace("uplot", "uplot", 1) + "\n")
    assert assets.fetch(static) is True
    assert len(npm()) == 2


def test_a_file_that_went_missing_is_fetched_again(static, npm):
    assets.fetch(static)
    (static / "node_modules" / assets.SERVED[0]).unlink()
    assert assets.fetch(static) is True


def test_what_tests_need_comes_beside_the_rest(static, npm):
    assets.fetch(static)
    assert assets.fetch(static, tests=True) is True
    assert (static / "node_modules" / assets.SERVED_TO_TESTS[0]).is_file()
    assert assets.fetch(static) is False
    assert "--omit=dev" not in npm()[1]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("npm error code ENOTFOUND\nnpm error request to the registry failed", "can't be reached"),
        ("npm error code EINTEGRITY\nnpm error sha512 differs", "checksum differs"),
        ("npm error code ENOSPC\n", "no space left"),
        ("npm error code EUSAGE\nnpm error The lock file is out of date", "The lock file is out of date"),
        ("", "no reason"),
    ],
)
def test_a_failure_is_one_line_and_keeps_what_was_there(static, npm, tmp_path, monkeypatch, output, words):
    assets.fetch(static)
    (static / "build" / "stamp").unlink()
    failing_npm(tmp_path, monkeypatch, output)
    with pytest.raises(assets.AssetsError, match=words) as caught:
        assets.fetch(static)
    assert "\n" not in str(caught.value)
    assert (static / "node_modules" / assets.SERVED[0]).is_file()


def test_npm_of_the_machine_comes_first(tmp_path, monkeypatch):
    for name in ("npm", "node"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert assets.npm() == [str(tmp_path / "npm")]


def test_without_node_on_the_machine_the_wheel_brings_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    node, script = map(Path, assets.npm())
    assert node.stat().st_mode & stat.S_IXUSR
    assert script.is_file()


def test_the_sprite_has_a_symbol_for_each_icon_without_its_empty_shape(tmp_path):
    (tmp_path / "check.svg").write_text(ICON)
    text = assets.sprite(tmp_path, ["check"])
    assert text.count("<symbol ") == 1
    assert 'id="check"' in text
    assert 'd="M5 12l5 5l10 -10"' in text
    assert "M0 0h24v24H0z" not in text
    assert "ns0:" not in text


def test_an_icon_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(assets.AssetsError, match="no-such-icon"):
        assets.sprite(tmp_path, ["no-such-icon"])


def test_the_lock_file_has_checksums_and_no_addresses():
    text = (STATIC / "package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    assert "resolved" not in text
    assert "://" not in text
    assert all(entry.get("integrity", "").startswith("sha512-") for name, entry in packages.items() if name)
    wanted = json.loads((STATIC / "package.json").read_text())
    assert packages[""]["dependencies"] == wanted["dependencies"]
    assert all(re.fullmatch(r"[\d.]+", version) for version in (wanted["dependencies"] | wanted["devDependencies"]).values())


def used_in_templates():
    for text in templates().values():
        yield from re.findall(r'{% icon "([a-z0-9-]+)"', text)
        yield from re.findall(r'{% icon [\w.]+\|default:"([a-z0-9-]+)"', text)
        yield from re.findall(r'{% (?:mark|tone_tag) (?:"\w*"|[\w.]+) "([a-z0-9-]+)"', text)
        yield from re.findall(r'{% nav_link "[^"]+" "[^"]+" "([a-z0-9-]+)"', text)
        yield from re.findall(r'\b(?:icon|name)="([a-z0-9]+-[a-z0-9-]+)"', " ".join(re.findall(r"{%.*?%}", text)))


def used_in_scripts():
    for path in (STATIC / "js").glob("*.js"):
        yield from re.findall(r'\bicon\("([a-z0-9-]+)"', path.read_text())
        yield from re.findall(r'\["(?:wait|work|pass|fail|look)", "([a-z0-9-]+)", "', path.read_text())


def used_in_python():
    """Strings named icon, and those right after a tone: Badge("Done", Tone.PASS, "circle-check")."""
    for path in [*(ROOT / "portal").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "icon" and isinstance(node.value, ast.Constant):
                yield node.value.value
            row = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
            for tone, word in zip(row, row[1:], strict=False):
                named = isinstance(word, ast.Constant) and re.fullmatch(r"[a-z0-9-]+", str(word.value))
                if ast.unparse(tone).startswith("Tone.") and named:
                    yield word.value


def test_every_icon_that_is_used_is_in_the_sprite():
    rows = {row.icon for table in lifecycle.TABLES.values() for row in table.values()}
    used = rows | set(used_in_templates()) | set(used_in_scripts()) | set(used_in_python())
    assert len(used) > 30
    assert used - set(assets.ICONS) == set()


def test_every_icon_of_the_sprite_is_named_somewhere():
    """Generous: any text in quotes counts, as a table of icons may be written in many ways."""
    places = [*TEMPLATES.rglob("*.html"), *(STATIC / "js").glob("*.js"), *(ROOT / "portal").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")]
    said = {word for path in places if path.name != "assets.py" for word in re.findall(r"""["']([a-z0-9-]+)["']""", path.read_text())}
    assert set(assets.ICONS) - said == set()


def test_the_list_of_icons_has_no_doubles_and_is_in_order():
    assert list(assets.ICONS) == sorted(set(assets.ICONS))


def test_every_file_from_npm_that_a_page_names_is_served():
    named = {name for text in templates().values() for name in re.findall(r"static ['\"]npm/([^'\"]+)", text)}
    for path in (STATIC / "css").glob("*.css"):
        named |= {name.replace("%40", "@") for name in re.findall(r"url\(\"\.\./npm/([^\"]+)\"\)", path.read_text())}
    assert len(named) >= 5
    assert named <= set(assets.SERVED)


def test_every_static_file_of_ours_that_a_page_names_is_there():
    named = {name for text in templates().values() for name in re.findall(r"static ['\"]((?:css|js)/[^'\"]+)", text)}
    assert "js/page.js" in named
    assert {name for name in named if not (STATIC / name).is_file()} == set()


def test_nothing_stands_in_the_pages_that_their_policy_refuses():
    for name, text in templates().items():
        assert not re.search(r"\sstyle\s*=", text), f"{name}: an inline style"
        assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text), f"{name}: an inline handler"
        assert not re.search(r"<style\b", text), f"{name}: a style element"
        for script in re.findall(r"<script\b([^>]*)>", text):
            assert "src=" in script or "application/json" in script, f"{name}: an inline script"


def test_nothing_is_loaded_from_elsewhere():
    for path in [*(STATIC / "css").glob("*.css"), *(STATIC / "js").glob("*.js"), *TEMPLATES.rglob("*.html")]:
        found = re.findall(r"(?:src|href|url|from|import|fetch)\W{1,4}(?:https?:)?//[\w.]+", path.read_text())
        assert found == [], path.name


COMPOSED = ("tone-", "tone-tag-", "bar-", "a-", "a-on-", "s", "when-")
"""Beginnings of classes whose ends are said elsewhere: a tone, a size, a colour of a terminal, a line of a chart."""
FOREIGN = {"token", "u-legend", "uplot", "xterm", "xterm-viewport"}
"""Classes that libraries put on their own elements."""


def test_every_class_that_is_styled_is_said_somewhere():
    """Else nobody sees it. Generous: any word of a template, a script or a text in Python counts."""
    places = [*TEMPLATES.rglob("*.html"), *(STATIC / "js").glob("*.js"), *(ROOT / "portal").rglob("*.py"), ROOT / "jobs" / "lifecycle.py", ROOT / "jobs" / "terms.py"]
    said = {word for path in places for word in re.findall(r"[\w-]+", path.read_text())}
    for sheet in (STATIC / "css").glob("*.css"):
        text = re.sub(r"/\*.*?\*/|url\([^)]*\)|\{[^{}]*\}", " ", sheet.read_text(), flags=re.DOTALL)
        found = set(re.findall(r"\.(-?[a-zA-Z][\w-]*)", re.sub(r"\.token(\.[\w-]+)*", " ", text)))
        ends = {name for name in found for start in COMPOSED if name.startswith(start) and name.removeprefix(start) in said | set("bcdgkmrwy123456789")}
        assert found - said - FOREIGN - ends == set(), sheet.name
