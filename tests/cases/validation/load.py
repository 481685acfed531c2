"""Cases of validation: inputs, a command, and what must come out.

The one idea to know: a case is either a folder as it was given, or a healthy base with a few edits; both end as a
folder of real files, since that is what people upload.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
_UNITS = {"G": 1 << 30, "M": 1 << 20}


@dataclass(frozen=True)
class Case:
    name: str
    software: str
    command: str
    expect: str  # refuse, warn (a refusal is right too), pass
    version: str = ""
    cores: int = 2
    memory: int | None = None
    mention: tuple[str, ...] = ()  # "a|b": one of them; "=a": letter by letter
    warnings: bool = False  # whether a pass may carry warnings
    may_refuse_for: tuple[str, ...] = ()
    best: str = ""
    make: dict[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return self.name.split("-")[0]

    def build(self, target: Path) -> Path:
        """Lay the inputs out in an empty folder."""
        base = HERE / ("bases" if "base" in self.make else "given") / self.make.get("base", self.name)
        if base.is_dir():
            shutil.copytree(base, target, dirs_exist_ok=True)
        target.mkdir(exist_ok=True)
        _change(target, self.make)
        return target


def cases() -> list[Case]:
    return [*_given(), *_variations()]


def problems(case: Case, findings: list[Any]) -> list[str]:
    """What is wrong with the answer to a case; empty if it is right."""
    severities = {str(finding.severity) for finding in findings}
    got = "refuse" if "error" in severities else "warn" if severities else "pass"
    text = " ".join(f"{f.file} line {f.line} :{f.line} {f.thing} {f.message} {f.remedy}" for f in findings)
    wrong = [f"does not mention {entry}" for entry in case.mention if not _mentions(text, entry)]
    if case.expect == "pass":
        excused = any(_mentions(text, entry) for entry in case.may_refuse_for)
        if got == "refuse" and not excused or got == "warn" and not case.warnings:
            wrong.append(f"false alarm: {[f.message for f in findings]}")
    elif ["pass", "warn", "refuse"].index(got) < ["pass", "warn", "refuse"].index(case.expect):
        wrong.append(f"expected {case.expect}, got {got}: {[f.message for f in findings]}")
    return wrong


def _mentions(text: str, entry: str) -> bool:
    return any(part[1:] in text if entry[0] == "=" else part.lower() in text.lower() for part in entry.split("|"))


def _given() -> Iterator[Case]:
    for name, values in json.loads((HERE / "given.json").read_text()).items():
        yield _case(name, {**values, "modes": values.get("modes", {})})


def _variations() -> Iterator[Case]:
    for file in sorted(HERE.glob("variations/*.yaml")):
        listed = yaml.safe_load(file.read_text())
        for values in listed["cases"]:
            yield _case(f"{file.stem}-{values['name']}", {**listed.get("all", {}), **values})


def _case(name: str, values: dict[str, Any]) -> Case:
    size = values.get("memory")
    return Case(
        name=name, software=values["software"], command=values["command"], expect=values["expect"],
        version=str(values.get("version", "")), cores=values.get("cores", 2),
        memory=int(size[:-1]) * _UNITS[size[-1]] if size else None, mention=tuple(map(str, values.get("mention", ()))),
        warnings=values.get("warnings", False), may_refuse_for=tuple(values.get("may_refuse_for", ())),
        best=values.get("best", ""), make=values,
    )  # fmt: skip


def _change(folder: Path, make: dict[str, Any]) -> None:
    for name, pairs in make.get("edit", {}).items():
        text = (folder / name).read_text()
        for old, new in pairs:
            if old not in text:
                raise ValueError(f"{make['name']}: {name} has no {old!r}")
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
    for name, text in make.get("add", {}).items():
        _write(folder / name, text)
    for old, new in make.get("rename", {}).items():
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        (folder / old).rename(folder / new)
    for name in make.get("remove", ()):
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()
    _bytes(folder, make)


def _bytes(folder: Path, make: dict[str, Any]) -> None:
    for name in make.get("bom", ()):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    for name in make.get("crlf", ()):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"\n", b"\r\n"))
    for name, digits in make.get("hex", {}).items():
        (folder / name).write_bytes(bytes.fromhex(digits))
    for name in make.get("utf16", ()):
        (folder / name).write_bytes((folder / name).read_text().encode("utf-16"))
    for name, mode in make.get("modes", {}).items():
        (folder / name).chmod(int(mode, 8))
    for archive, top in make.get("zip", {}).items():
        _pack(folder, archive, top)


def _pack(folder: Path, archive: str, top: str) -> None:
    """Move all files into an archive, below the folder `top`."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    with zipfile.ZipFile(folder / archive, "w") as packed:
        for path in files:
            packed.write(path, f"{top}{path.relative_to(folder)}")
    for path in folder.iterdir():
        if path.name != archive:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
