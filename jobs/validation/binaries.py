"""Programs among the inputs that this kind of machine can't start: of another system or processor, not linked, still packed.

The one idea to know: the first bytes of a file say what it is. What can run nowhere on Linux is refused; a processor is only warned
of, as the nodes may have another than the machine that looks.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator

from .base import Finding, Inputs, error, warning
from .text import head

_MAC = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce")
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}
_SOURCE = (".c", ".cc", ".cpp", ".cxx", ".f", ".f90", ".f95", ".for", ".h", ".cu", ".rs", ".go", ".java", ".o", ".mod")
# e_machine of an ELF header -> (name, names of platform.machine() that can start it)
_PROCESSORS = {
    3: ("32-bit x86", {"i386", "i686", "x86_64", "AMD64"}), 62: ("x86-64", {"x86_64", "AMD64"}), 183: ("ARM (AArch64)", {"aarch64", "arm64"}),
    40: ("32-bit ARM", {"armv7l", "armv6l", "aarch64"}), 21: ("PowerPC", {"ppc64", "ppc64le"}), 243: ("RISC-V", {"riscv64"}),
    8: ("MIPS", {"mips", "mips64"}), 22: ("s390", {"s390x"}), 258: ("LoongArch", {"loongarch64"}),
}  # fmt: skip
_BUILD = "Build it on Linux, or let the command do it (gcc, make)."


def check(inputs: Inputs, name: str) -> Iterator[Finding]:
    """`name` is started as it is."""
    first = head(inputs, name, 512)
    at = {"file": name, "thing": name}
    fat = first[:4] == b"\xca\xfe\xba\xbe"
    if not first:
        yield error(f"{name} is started, but is empty (0 bytes).", remedy="Upload it again.", **at)  # type: ignore[arg-type]
    elif first[:4] in _MAC or (fat and int.from_bytes(first[4:8], "big") < 30):  # a class of Java has its version there
        yield error(f"{name} is a program for macOS (Mach-O); Linux can't start it (exec format error).", remedy=_BUILD, **at)  # type: ignore[arg-type]
    elif first[:2] == b"MZ":
        yield error(f"{name} is a program for Windows (PE); Linux can't start it (exec format error).", remedy=_BUILD, **at)  # type: ignore[arg-type]
    elif fat:
        yield error(f"{name} is a class of Java, no program.", remedy=f"Write java {name.removesuffix('.class')}.", **at)  # type: ignore[arg-type]
    elif first[:4] == b"\x7fELF":
        yield from _elf(name, first)
    elif packed := next((kind for mark, kind in _PACKED.items() if first.startswith(mark)), None):
        yield error(f"{name} is packed ({packed}), no program.", remedy="Unpack it first, or write java -jar for a .jar.", **at)  # type: ignore[arg-type]
    elif first.startswith(b"version https://git-lfs"):
        yield error(f"{name} is a pointer of Git LFS, not the file itself.", remedy="Fetch it (git lfs pull) and upload it again.", **at)  # type: ignore[arg-type]
    elif name.lower().endswith(_SOURCE) and not first.startswith(b"#!"):
        yield error(f"{name} is a source text, no program.", remedy="Compile it and start what comes out.", **at)  # type: ignore[arg-type]


def _elf(name: str, first: bytes) -> Iterator[Finding]:
    order = "big" if first[5:6] == b"\x02" else "little"
    kind, machine = int.from_bytes(first[16:18], order), int.from_bytes(first[18:20], order)  # type: ignore[arg-type]
    processor, fits = _PROCESSORS.get(machine, ("", set()))
    at = {"file": name, "thing": name}
    if kind == 1:
        yield error(f"{name} is an object file that is not linked; it can't be started.", remedy="Link it (gcc -o NAME ...).", **at)  # type: ignore[arg-type]
    elif kind == 4:
        yield error(f"{name} is a core dump, no program.", remedy="Upload the program.", **at)  # type: ignore[arg-type]
    elif processor and platform.machine() not in fits:
        yield warning(f"{name} is a program for {processor}; machines here are {platform.machine()}, which can't start it.",
                      remedy="Build it for that processor.", **at)  # type: ignore[arg-type] # fmt: skip
