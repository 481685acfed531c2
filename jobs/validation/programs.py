"""What well-known programs read and make.

The one idea to know: a program that is not in these tables may make anything, so after it no file is called missing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import archives
from .base import Inputs

if TYPE_CHECKING:
    from .plan import Step

_QUIET = set(
    "echo printf cat ls ll true false : test [ [[ sleep date hostname uname whoami id pwd env printenv export declare local "
    "readonly typeset cd pushd popd set unset shopt ulimit umask module ml source . trap wait exit return shift read tail "
    "head grep egrep fgrep zgrep zcat wc diff cmp uniq cut tr paste sha256sum sha1sum md5sum stat file which type hash du "
    "df free nproc lscpu ps top kill pkill history seq basename dirname readlink realpath expr bc let rm rmdir chmod chown "
    "less more column fold rev tac nl jobs bg fg disown alias getconf nvidia-smi lsb_release conda mamba spack numdiff xxd "
    "od strings ldd groups tput clear yes sync uptime vmstat foamVersion foamDictionary checkMesh break continue eval".split()
)
_READERS = {"cat", "head", "tail", "wc", "sort", "uniq", "cut", "paste", "diff", "cmp", "sha256sum", "md5sum", "zcat",
            "gunzip", "bunzip2", "unxz", "dos2unix", "less", "more", "tac", "nl", "chmod", "source", "."}  # fmt: skip
_INTERPRETERS = re.compile(r"(python[\d.]*|perl|Rscript|julia|octave(-cli)?|node|ruby|tclsh|gnuplot|pvpython|pvbatch)$")
_COMPILERS = re.compile(r"(mpi)?(gcc|cc|g\+\+|c\+\+|cxx|gfortran|f77|f90|fort|clang|clang\+\+|icc|icx|ifort|ifx)(-\d+)?")
_FOAM = re.compile(
    r"(\w+Foam|blockMesh|decomposePar|reconstructPar(Mesh)?|snappyHexMesh|setFields|topoSet|mapFields(Par)?|extrudeMesh|"
    r"createPatch|createBaffles|mergeMeshes|refineMesh|renumberMesh|mirrorMesh|stitchMesh|splitMeshRegions|transformPoints|"
    r"surfaceFeature(s|Extract)|surface\w+|foam\w+|\w+ToFoam|postProcess|redistributePar|changeDictionary|potentialFoam|"
    r"cartesianMesh|collapseEdges|extrudeToRegionMesh|autoPatch|setExprFields|restore0Dir|runApplication|runParallel|"
    r"getApplication|flattenMesh|moveDynamicMesh|subsetMesh|pimpleFoam|applyBoundaryLayer|"
    r"paraFoam|cleanCase|createNonConformalCouples)$"
)
# What the programs of OpenFOAM make in a case: the first pattern that fits.
_FOAM_MAKES: list[tuple[str, list[str]]] = [
    (r"blockMesh|\w*HexMesh|extrude\w*|\w+ToFoam|mergeMeshes|stitchMesh|mirrorMesh|refineMesh|renumberMesh|topoSet|createBaffles|"
     r"cartesianMesh|transformPoints|checkMesh|flattenMesh|collapseEdges",
     ["constant/polyMesh*", "constant/*/polyMesh*", "[1-9]*", "0.*/*", "0/*/polyMesh*", "processor*"]),
    (r"decomposePar|redistributePar", ["processor*"]),
    (r"surface\w+", ["constant/triSurface/*", "constant/geometry/*", "constant/extendedFeatureEdgeMesh*", "*.eMesh", "*.obj", "*.stl"]),
    (r"reconstructPar(Mesh)?", ["[0-9]*", "constant/polyMesh*"]),
    (r"(?!foam|para|setsTo)\w+Foam", ["[1-9]*", "0.[0-9]*", "postProcessing*", "dynamicCode*", "processor*", "constant/*/polyMesh*",
                                      "constant/polyMesh*", "log.*", "*.dat", "*.csv"]),
    (r"\w+", ["constant/*", "processor*", "[0-9]*", "postProcessing*", "VTK*", "log.*", "0/*", "system/*"]),
]  # fmt: skip
_GMX_DEFAULTS = {
    "grompp": ["topol.tpr", "mdout.mdp"],
    "mdrun": ["confout.gro", "traj*", "ener.edr", "state*.cpt", "md.log"],
    "pdb2gmx": ["conf.gro", "topol*", "posre*.itp"],
    "editconf": ["out.gro"], "solvate": ["out.gro"], "insert-molecules": ["out.gro"], "genion": ["out.gro"],
    "genrestr": ["posre.itp"], "make_ndx": ["index.ndx"], "genconf": ["out.gro"],
}  # fmt: skip
Effects = tuple[Sequence[str | None], bool]  # (what is made, may anything else be made)


def effects(step: Step, inputs: Inputs) -> Effects:
    """What this step leaves behind, as far as it is known."""
    name, words = step.program, plain(step.argv[1:])
    if not step.argv:
        return [], False
    if name in ("cp", "mv", "ln", "install", "rsync"):
        return _copied(step, words), name == "rsync"
    if name in ("touch", "mkdir", "tee", "truncate", "mkfifo"):
        return words, False
    if name == "zip" or _packs(step):
        return _packed(step, words), False
    if name in ("tar", "unzip", "gunzip", "bunzip2", "unxz", "gzip", "xz", "bzip2", "dos2unix", "7z"):
        return _unpacked(step, words, inputs)
    if _COMPILERS.fullmatch(name):
        return [step.option("-o") or "a.out", "*.o", "*.mod"], False
    if name == "foamDictionary":
        return (words[-1:] if {"-set", "-add", "-remove", "-merge"} & set(step.argv) else []), False
    if name in ("sed", "awk", "gawk", "sort", "find", "dd"):
        return _filters(step, words)
    return _solvers(step, name, words) or ([], name not in _QUIET)


def plain(words: Sequence[str | None]) -> list[str | None]:
    """The words that are no options."""
    return [word for word in words if word is None or not word.startswith("-") or word == "-"]


def reads(step: Step) -> list[str | None]:
    """The words of a step that must be files, for programs of which this is known."""
    words = plain(step.argv[1:])
    name = step.program
    if name in ("source", "."):
        return words[:1]
    if name == "chmod":
        return words[1:]
    if name in ("head", "tail"):
        return _without_counts(step)
    if name in ("cp", "mv"):
        return words[:-1] if not step.option("-t", "--target-directory") else []
    if name in ("grep", "egrep", "fgrep", "zgrep"):
        return words[1:] if not step.option("-e", "-f", "-A", "-B", "-C", "-m") else []
    if name in ("sort", "cut", "paste", "uniq", "awk", "gawk", "mawk", "sed"):
        return _filtered(step, words)
    if name == "java":
        return [step.option("-jar")] if step.option("-jar") else []
    return words if name in _READERS else []


def _filtered(step: Step, words: list[str | None]) -> list[str | None]:
    """Files of a filter, as far as they look like files: its program and the values of its options do not."""
    program = step.program in ("awk", "gawk", "mawk", "sed") and not step.option("-f", "-e", "--file", "--expression")
    named = [step.option("-f", "--file")] if step.program not in ("sort", "cut", "paste", "uniq") and step.option("-f", "--file") else []
    return [word for word in words[program:] if word and re.fullmatch(r"[\w./-]*\w\.[A-Za-z]\w{0,5}", word)] + named


def archive(step: Step) -> str | None:
    """The word for the archive that a step unpacks."""
    if step.program not in ("tar", "unzip"):
        return None
    name = archives.named_by(step)
    return next((word for word in step.argv[1:] if word and step.path(word) == name), None) if name else None


def handed(step: Step) -> str | None:
    """The program that xargs, or find by -exec, starts."""
    words = step.argv
    if step.program == "find":
        at = next((at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok")), len(words)) + 1
    elif step.program == "xargs":
        at = 1
        while at < len(words) and (words[at] or "").startswith("-"):
            at += 2 if words[at] in ("-n", "-P", "-I", "-L", "-a", "-d", "-E", "-s") else 1
    else:
        return None
    return words[at] if at < len(words) else None


def script(step: Step) -> str | None:
    """The script that an interpreter is to run."""
    if not (_INTERPRETERS.match(step.program) or step.program in ("sh", "bash", "dash", "zsh", "ksh")):
        return None
    words = step.argv[1:]
    for word in words:
        if word is None or word in ("-m", "-", "-s", "-o", "-W", "-X") or re.match(r"-\w*[ceE]$", word):
            return None
        if not word.startswith(("-", "+")):
            return word
    return None


def is_known(name: str) -> bool:
    return name in _QUIET or bool(_FOAM.match(name)) or name in ("sed", "awk", "gawk", "sort", "find", "dd", "tee", "tar")


def _without_counts(step: Step) -> list[str | None]:
    words = list(step.argv[1:])
    found: list[str | None] = []
    while words:
        word = words.pop(0)
        if word in ("-n", "-c", "--lines", "--bytes") and words:
            words.pop(0)
        elif word is None or not word.startswith(("-", "+")):
            found.append(word)
    return found


def _copied(step: Step, words: list[str | None]) -> list[str | None]:
    target = step.option("-t", "--target-directory")
    sources = words if target else words[:-1]
    target = target or (words[-1] if len(words) > 1 else None)
    if target is None:
        return [posixpath.basename(word) if word else None for word in words] if step.program == "ln" else [None]
    inside = step.path(target)
    made: list[str | None] = [target]
    if inside is not None and step.tree.is_folder(inside):
        made += [None if word is None else f"{target}/{posixpath.basename(word.rstrip('/'))}" for word in sources]
    if any(word is None or step.tree.is_folder(step.path(word) or "?") is not False for word in sources):
        made.append(target.rstrip("/") + "/*")
        if inside == "":
            made.append("*")
    return made


def _packs(step: Step) -> bool:
    """`tar czf a.tgz out`: the letters stand first, with or without a dash."""
    letters = (step.argv[1] or "") if step.program == "tar" and len(step.argv) > 1 else ""
    return letters in ("--create", "--append") or bool(re.fullmatch(r"-?[a-wyzA-Z]*[cru][a-wyzA-Z]*", letters))


def _packed(step: Step, words: list[str | None]) -> list[str | None]:
    name = words[0] if step.program == "zip" and words else None
    if step.program == "tar":
        letters = (step.argv[1] or "").lstrip("-")
        bundled = step.argv[2] if letters.endswith("f") and len(step.argv) > 2 else None
        name = bundled or step.option("-f", "--file")
    return [name, f"{name}.zip"] if name else []


def _unpacked(step: Step, words: list[str | None], inputs: Inputs) -> Effects:
    if step.program in ("gunzip", "bunzip2", "unxz", "dos2unix"):
        return [posixpath.splitext(word)[0] if word and step.program != "dos2unix" else word for word in words], False
    if step.program in ("gzip", "xz", "bzip2"):
        ends = {"gzip": ".gz", "xz": ".xz", "bzip2": ".bz2"}[step.program]
        undo = any((word or "").startswith("-") and "d" in (word or "") for word in step.argv[1:])
        return [None if not word else posixpath.splitext(word)[0] if undo else word + ends for word in words], False
    name = archives.named_by(step)
    members = archives.member_names(inputs, name) if name else None
    if members is None:
        return [], True
    target = step.option("-C", "-d", "--directory") or ""
    return [posixpath.join(target, member) for member in members], False


def _filters(step: Step, words: list[str | None]) -> Effects:
    if step.program == "sed":
        in_place = any((word or "").startswith(("-i", "--in-place")) for word in step.argv[1:])
        return (words if in_place else []), False
    if step.program == "dd":
        return [word[3:] for word in words if word and word.startswith("of=")], False
    if step.program == "sort":
        return [step.option("-o", "--output")] if step.option("-o", "--output") else [], False
    risky = any(word is None or ">" in word or word.startswith(("-exec", "-fprint", "-f")) for word in step.argv[1:])
    return [], risky


def _solvers(step: Step, name: str, words: list[str | None]) -> Effects | None:
    if name.startswith("ccx"):
        job = step.option("-i") or next((word for word in words if word), None)
        return [f"{job.removesuffix('.inp')}.*" if job else None], False
    if _FOAM.match(name):
        makes = next(patterns for pattern, patterns in _FOAM_MAKES if re.fullmatch(pattern, name))
        return [posixpath.join(step.option("-case") or "", made) for made in [*makes, f"log.{name}*"]], False
    if name in ("gmx", "gmx_mpi", "gmx_d") and words:
        return _gromacs(step)
    if name == "ld1.x":
        return ["*.UPF", "*.upf", "*.RRKJ3", "*.psp", "ld1*"], False
    if name in ("pw.x", "cp.x"):
        return ["out*", "*.save*", "*.xml", "tmp*"], False
    return None


def _gromacs(step: Step) -> Effects:
    tool = next((word for word in plain(step.argv[1:]) if word), "")
    if tool not in _GMX_DEFAULTS:
        return [], True
    stem = step.option("-deffnm")
    made: list[str | None] = [f"{stem}*"] if stem and tool == "mdrun" else [*_GMX_DEFAULTS[tool]]
    outputs = ("-o", "-e", "-g", "-x", "-cpo", "-po", "-pp") + (("-c",) if tool == "mdrun" else ())
    if tool == "pdb2gmx":
        outputs += ("-p", "-i", "-n", "-q")
    for option in outputs:
        value = step.option(option)
        if value:
            made += [value, value + ".*"]
    return made, False
