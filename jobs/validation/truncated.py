"""Files that a command empties while it is about to read them: `sort f > f`, `cut -f1 f | uniq > f`, `cat f | tee f`.

The one idea to know: the shell opens all files of a pipe before any program of it reads, so a file that is read anywhere in a pipe
must not be written anywhere in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .base import Finding, error, warning
from .paths import spot
from .plan import Plan, Step

# Programs whose plain words are files that they read; for some the first word is none.
_FILTERS = {name: 0 for name in "cat sort uniq cut head tail tac nl column paste join comm rev fold expand wc od base64 csvtool".split()} | {
    name: 1 for name in "sed awk gawk mawk grep egrep fgrep jq".split()
}  # fmt: skip


def check(plan: Plan) -> Iterator[Finding]:
    told: set[tuple[str | None, int, str]] = set()
    for pipe in _pipes(plan.steps):
        read = {name: step for step in pipe for name in _reads(step)}
        for step in pipe:
            for name in _writes(step):
                key = (step.file, step.line, name)
                if name in read and key not in told:
                    told.add(key)
                    yield _emptied(step, read[name], name)


def _pipes(steps: list[Step]) -> Iterator[list[Step]]:
    pipe: list[Step] = []
    for step in steps:
        if pipe and step.after not in ("|", "|&"):
            yield pipe
            pipe = []
        pipe.append(step)
    yield from [pipe] if pipe else []


def _reads(step: Step) -> set[str]:
    words: Sequence[str | None] = step.argv[1:]
    if step.program not in _FILTERS:
        words = []
    elif any(word is None for word in words):
        return set()
    else:
        in_place = step.program == "sed" and any((word or "").startswith(("-i", "--in-place")) for word in words)
        own = any(word in ("-e", "-f", "--expression", "--file") for word in words)
        plain = [word for word in words if word and not word.startswith("-")]
        words = [] if in_place else plain[0 if own else _FILTERS[step.program] :]
    return {name for word in [*words, step.stdin] if word and (name := step.path(word))}


def _writes(step: Step) -> list[str]:
    targets = [
        redirect.target for redirect in step.redirects if redirect.operator in (">", ">|", "&>") and redirect.descriptor in ("", "1")
    ]
    if step.program == "tee" and not {"-a", "--append"} & set(step.argv):
        targets += [word for word in step.argv[1:] if word and not word.startswith("-")]
    return [name for target in targets if target and (name := step.path(target))]


def _emptied(step: Step, reader: Step, name: str) -> Finding:
    make = error if name in step.tree.inputs and name not in step.tree.made and step.program != "tee" else warning
    return make(f"{spot(step.file, step.line)}: {reader.program} reads {name} and the output goes into it; the file is emptied before it is read.",
                file=step.file, line=step.line, thing=name,
                remedy=f"Write to another name and move it: ... > {name}.new && mv {name}.new {name}.")  # fmt: skip
