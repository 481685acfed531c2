"""Words of other shells and of a person at a keyboard: Windows, csh, editors, variables of other batch systems, loops without end.

The one idea to know: a job has nobody who types, and runs in bash on Linux; what only another shell knows fails there, and what
waits for somebody waits until the time limit.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from . import solvers
from .base import Finding, Request, error, mode_of, warning
from .paths import spot
from .plan import Plan, Step
from .programs import is_known
from .shebang import script_text
from .text import head

_FOREIGN = {"setenv": "export NAME=value", "unsetenv": "unset NAME", "copy": "cp", "del": "rm", "cls": "nothing", "rem": "# before a remark",
            "REM": "# before a remark", "@echo": "nothing", "xcopy": "cp -r", "md": "mkdir", "cmd": "bash", "cmd.exe": "bash"}  # fmt: skip
_WAITING = {"vi": "sed", "vim": "sed", "nano": "sed", "emacs": "sed", "htop": "nothing", "watch": "nothing", "gedit": "sed"}
_BATCH = re.compile(r"\$\{?(PBS_\w+|LSB_\w+|SGE_\w+|NSLOTS|PE_HOSTFILE|COBALT_\w+|SLURM_SUBMIT_DIR)\b(?!:?[-=+])")
_BRACKET = re.compile(r"(?<![\w$\[])\[ [^\]\[\n]*[^\s\]\[]\](?=\s*(?:;|$|&&|\|\|))", re.M)
_RANGE = re.compile(r"\bin\s+[^\n;]{0,200}\{(?:\$?\w+)\.\.\$\w+\}")
_ENDLESS = re.compile(r"^[ \t]*(?:while[ \t]+(?:true|:|\[[ ]1[ ]\])|until[ \t]+false)[ \t]*(?:;|$)", re.M)
_WAITS = re.compile(
    r"^[ \t]*(?:while[ \t]+\[\[?[ ]+![ ]+-[efs][ ]+|until[ \t]+\[\[?[ ]+-[efs][ ]+)[\"']?([\w./-]+)[\"']?[ ]+\]\]?[ \t]*(?:;|$)", re.M
)


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    for step in plan.steps:
        if not step.conditional and step.words and step.words[0] not in plan.functions:
            yield from _word(request, step)
    for file, text in _texts(request, plan):
        yield from _slips(plan, file, text)


def _word(request: Request, step: Step) -> Iterator[Finding]:
    word, where, at = step.words[0] or "", spot(step.file, step.line), {"file": step.file, "line": step.line}
    program = (step.argv[0] if step.argv else None) or ""
    if word in _FOREIGN and step.tree.exists(word) is not True:
        yield error(f"{where}: {word} is a word of Windows or of another shell; bash does not know it.", thing=word,
                    remedy=f"Write {_FOREIGN[word]}.", **at)  # type: ignore[arg-type] # fmt: skip
    elif re.search(r"(?i)\.(bat|cmd|ps1)$", program) or re.search(r"(?i)\.(bat|cmd)$", _first(step)):
        name = program if re.search(r"(?i)\.(bat|cmd|ps1)$", program) else _first(step)
        yield error(f"{where} runs {name}, a script for Windows.", thing=name, remedy="Write its lines as a shell script.", **at)  # type: ignore[arg-type]
    elif word == "export" and "=" in step.shown[1:]:
        yield error(f"{where}: there must be no blank around the = of export.", thing="=", remedy="Write export NAME=value.", **at)  # type: ignore[arg-type]
    elif word in _WAITING:
        yield warning(f"{where} starts {word}, which waits for somebody at a keyboard.", thing=word,
                      remedy=f"Use {_WAITING[word]} instead.", **at)  # type: ignore[arg-type] # fmt: skip
    elif word == "sudo":
        yield warning(f"{where} uses sudo; a job has no rights of an administrator.", thing=word, remedy="Leave it out.", **at)  # type: ignore[arg-type]
    elif word == "tail" and step.before != "&" and any(re.match(r"-[a-zA-Z]*[fF]|--follow", each or "") for each in step.argv[1:]):
        yield warning(f"{where} follows a file (tail -f) and never ends.", thing="tail -f", remedy="Leave out -f.", **at)  # type: ignore[arg-type]
    elif word == "rm" and any((step.argv[n] or "") in ("*", "./*", ".") for n in range(1, len(step.argv))) and "r" in str(step.argv[1]):
        yield warning(f"{where} removes all files of the job folder; inputs and results are gone.", thing="rm", remedy="Name what is to go.",
                      **at)  # type: ignore[arg-type] # fmt: skip
    else:
        yield from _unfound(request, step, program)
        yield from _workers(request, step)


def _first(step: Step) -> str:
    return next((word for word in step.argv[1:] if word and not word.startswith("-")), "") if step.program in ("bash", "sh") else ""


def _unfound(request: Request, step: Step, program: str) -> Iterator[Finding]:
    """`heat2d` for `./heat2d`: the job folder is not searched for programs."""
    name = step.path(program) if program and "/" not in program else None
    if (
        not name
        or name not in step.tree.inputs
        or name in step.tree.made
        or is_known(program)
        or solvers.claims(program)
        or (step.environment.get("PATH", "") != "" or any("PATH=" in word for word in step.shown))
        or step.tree.anything
        or shutil.which(program)
        or program.endswith((".py", ".txt", ".dat", ".in"))
        and head(request.inputs, name, 2) != b"#!"
    ):
        return
    mode = mode_of(request.inputs, name)
    if (mode is None or mode & 0o111) or head(request.inputs, name, 4)[:2] in (b"#!", b"\x7fE"):
        yield error(f"{spot(step.file, step.line)} starts {program}, which lies in the job folder; that is not searched for programs.",
                    file=step.file, line=step.line, thing=program, remedy=f"Write ./{program}.")  # fmt: skip


def _workers(request: Request, step: Step) -> Iterator[Finding]:
    """Programs that start others side by side, and the memory that Java is to take."""
    options = {"make": ("-j", "--jobs"), "ninja": ("-j",), "parallel": ("-j", "--jobs"), "xargs": ("-P", "--max-procs"),
               "snakemake": ("-c", "-j", "--cores")}.get(step.program, ())  # fmt: skip
    joined = next((word[2:] for word in step.argv[1:] if word and word[:2] in options and word[2:].isdigit()), None)
    count = joined or (step.option(*options) if options else None) or ""
    if count.isdigit() and int(count) > request.cores:
        yield warning(f"{spot(step.file, step.line)} lets {step.program} start {count} programs at once, but the hardware has {request.cores} "
                      f"core{'s' * (request.cores != 1)}.", file=step.file, line=step.line, thing=count,
                      remedy=f"Write {options[0]} {request.cores}.")  # fmt: skip
    heap = next((found for word in step.argv[1:] if (found := re.fullmatch(r"-Xmx(\d+)([gGmM])", word or ""))), None)
    size = int(heap[1]) << (30 if heap[2] in "gG" else 20) if heap and step.program == "java" else 0
    if heap and request.memory and size > request.memory:
        yield warning(f"{spot(step.file, step.line)} lets Java take {heap[0][4:]}; the node has {request.memory / (1 << 30):.6g} GB.",
                      file=step.file, line=step.line, thing=heap[0], remedy="Give it less, or choose hardware with more memory.")  # fmt: skip


def _texts(request: Request, plan: Plan) -> Iterator[tuple[str | None, str]]:
    yield None, request.command
    for name in dict.fromkeys(step.file for step in plan.steps if step.file):
        text = script_text(request.inputs, name, direct=False)
        if text:
            yield name, text


def _slips(plan: Plan, file: str | None, text: str) -> Iterator[Finding]:
    bare = re.sub(r"(?m)(^|\s)#.*$", r"\1", text)
    if "<<" in bare:
        return  # the text of a here-document is none of the shell's
    for pattern, what, remedy in (
        (_BRACKET, "there must be a blank before ]", "Write [ a = b ]."),
        (_RANGE, "a range in braces takes no variable, so the loop runs once", "Write $(seq 1 $N)."),
    ):
        for found in pattern.finditer(bare):
            yield _slip(file, bare, found, what, remedy)
    for found in _BATCH.finditer(bare):
        if not re.search(rf"\b{found[1]}=|-[nz]\s+\S*{found[1]}", bare):
            yield _slip(file, bare, found, f"{found[1]} is a variable of another batch system and empty here",
                        "Use $HEADRACE_CORES for the cores; the command starts in the job folder.")  # fmt: skip
    for found in _ENDLESS.finditer(bare):
        if not re.search(r"\b(break|exit|return|kill|exec)\b", bare):
            yield _slip(file, bare, found, "nothing ends this loop", "Leave it with break, or give it a condition.")
    for found in _WAITS.finditer(bare):
        names = plan.steps[-1].tree if plan.steps else plan.tree
        before = re.sub(r"&&|>&|&>", "", bare[: found.start()])
        if found[1] not in names.inputs and "&" not in before and not re.search(r"\b(break|exit)\b", bare[found.end() :]):
            yield _slip(file, bare, found, f"the loop waits for {found[1]}, but nothing runs beside it that could write it",
                        "Leave the loop out, or start the program before it with &.")  # fmt: skip


def _slip(file: str | None, text: str, found: re.Match[str], what: str, remedy: str) -> Finding:
    line = text[: found.start()].count("\n") + 1
    return warning(f"{spot(file, line)}: {what}.", file=file, line=line, thing=found.group().strip()[:60], remedy=remedy)
