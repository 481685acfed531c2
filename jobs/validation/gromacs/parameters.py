"""Run parameters (.mdp) of GROMACS.

The one idea to know: names and words are compared without regard to case, - and _, as grompp does; what it does not
know it only warns of, and one warning ends it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..base import Finding, Inputs, Severity, error, warning
from ..text import byte_order_mark, lines, not_text, odd_blank

NAMES = frozenset(
    re.sub(r"[-_]", "", name.lower())
    for name in """include define integrator tinit dt nsteps init-step simulation-part mts mts-levels mts-level2-forces
    mts-level2-factor mass-repartition-factor comm-mode nstcomm comm-grps bd-fric ld-seed emtol emstep niter fcstep nstcgsteep
    nbfgscorr rtpi nstxout nstvout nstfout nstlog nstcalcenergy nstenergy nstxout-compressed compressed-x-precision
    compressed-x-grps energygrps cutoff-scheme nstlist pbc periodic-molecules verlet-buffer-tolerance
    verlet-buffer-pressure-tolerance rlist coulombtype coulomb-modifier rcoulomb-switch rcoulomb epsilon-r epsilon-rf vdw-type
    vdwtype vdw-modifier rvdw-switch rvdw DispCorr table-extension energygrp-table fourierspacing fourier-nx fourier-ny
    fourier-nz pme-order ewald-rtol ewald-rtol-lj lj-pme-comb-rule ewald-geometry epsilon-surface implicit-solvent tcoupl
    nsttcouple nh-chain-length print-nose-hoover-chain-variables tc-grps tau-t ref-t ensemble-temperature-setting
    ensemble-temperature pcoupl pcoupltype nstpcouple tau-p compressibility ref-p refcoord-scaling QMMM QMMM-grps annealing
    annealing-npoints annealing-time annealing-temp gen-vel gen-temp gen-seed constraints constraint-algorithm continuation
    unconstrained-start Shake-SOR shake-tol lincs-order lincs-iter lincs-warnangle morse energygrp-excl nwall wall-type
    wall-r-linpot wall-atomtype wall-density wall-ewald-zfac pull awh rotation IMD-group disre disre-weighting disre-mixed
    disre-fc disre-tau nstdisreout orire orire-fc orire-tau orire-fitgrp nstorireout free-energy couple-moltype couple-lambda0
    couple-lambda1 couple-intramol init-lambda init-lambda-state delta-lambda nstdhdl fep-lambdas mass-lambdas coul-lambdas
    vdw-lambdas bonded-lambdas restraint-lambdas temperature-lambdas calc-lambda-neighbors init-lambda-weights
    init-lambda-counts init-wl-histogram-counts dhdl-print-energy sc-function sc-alpha sc-power sc-r-power sc-sigma sc-coul
    sc-gapsys-scale-linpoint-lj sc-gapsys-scale-linpoint-q sc-gapsys-sigma-lj separate-dhdl-file dhdl-derivatives dh-hist-size
    dh-hist-spacing acc-grps accelerate freezegrps freezedim cos-acceleration deform deform-init-flow simulated-tempering
    simulated-tempering-scaling sim-temp-low sim-temp-high swapcoords adress user1-grps user2-grps userint1 userint2 userint3
    userint4 userreal1 userreal2 userreal3 userreal4 title cpp domain-decomposition andersen-seed dihre dihre-fc dihre-tau
    nstdihreout nstcheckpoint optimize-fft ns-type rlistlong nstcalclr xtc-grps xtc-precision nstxtcout xtcgrps epsilon-r
    gb-algorithm nstgbradii rgbradii gb-epsilon-solvent gb-saltconc gb-obc-alpha gb-obc-beta gb-obc-gamma gb-dielectric-offset
    sa-algorithm sa-surface-tension warnings unconstrained-start e-x e-xt e-y e-yt e-z e-zt electric-field dp-grps tau-mts
    lambda-dynamics nstexpanded lmc-stats lmc-mc-move lmc-weights-equil lmc-forced-nstart lmc-gibbsdelta mininum-var-min
    lmc-repeats lmc-seed mc-temperature wl-ratio wl-scale init-wl-delta wl-oneovert symmetrized-transition-matrix
    nst-transition-matrix mininum-var-min weight-c-range weight-equil-wl-delta weight-equil-number-all-lambda
    weight-equil-number-steps weight-equil-number-samples weight-equil-count-ratio restart-step tpic-seed QMmethod QMMMscheme
    QMbasis QMcharge QMmult CASorbitals CASelectrons SAon SAoff SAsteps MMChargeScaleFactor SH bOPT bTS nh-chain-length
    expanded""".split()
)
_FAMILIES = re.compile(r"(pull|awh\d*|rot|swap|imd|densityguidedsimulation|qmmmcp2k|electricfield|user|colvars|splitgroup|"
                       r"solventgroup|massw|size|coupl|dem|bulk|cyl|iontype|iontypes|nnpot|fmm|lambda|annealing|bulkoffset)\w*")  # fmt: skip
_FEW = 3  # steps of a minimisation
_INTEGERS = {"nsteps", "nstxout", "nstvout", "nstfout", "nstlog", "nstenergy", "nstxoutcompressed", "nstlist", "nstcomm",
             "nstcalcenergy", "initstep", "nsttcouple", "nstpcouple", "pmeorder", "lincsorder", "lincsiter"}  # fmt: skip
_REALS = {"dt", "tinit", "rlist", "rcoulomb", "rvdw", "emtol", "emstep", "gentemp", "fourierspacing", "verletbuffertolerance"}
_CHOICES: dict[str, str] = {
    "integrator": "md steep cg bd sd2 nm l-bfgs tpi tpic sd md-vv md-vv-avek mimic sd1",
    "coulombtype": """cut-off reaction-field generalized-reaction-field pme ewald p3m-ad poisson switch shift user
        generalized-born reaction-field-nec encad-shift pme-user pme-switch pme-user-switch reaction-field-zero fmm""",
    "vdwtype": "cut-off switch shift user encad-shift pme",
    "tcoupl": "no berendsen nose-hoover yes andersen andersen-massive v-rescale",
    "pcoupl": "no berendsen parrinello-rahman isotropic mttk c-rescale",
    "pcoupltype": "isotropic semiisotropic anisotropic surface-tension",
    "constraints": "none h-bonds all-bonds h-angles all-angles",
    "constraintalgorithm": "lincs shake", "cutoffscheme": "verlet group", "pbc": "xyz no xy screw",
    "commmode": "linear angular linear-acceleration-correction none", "dispcorr": "no enerpres ener allenerpres allener",
    "freeenergy": "no yes expanded slow-growth", "genvel": "no yes", "continuation": "no yes",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    name: str  # as it is written
    text: str
    line: int


@dataclass
class Mdp:
    name: str
    values: dict[str, Value] = field(default_factory=dict)  # by the name without - and _
    findings: list[Finding] = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        return self.values[name].text if name in self.values else default

    def number(self, name: str, default: float) -> float:
        try:
            return float(self.text(name).split()[0])
        except (ValueError, IndexError):
            return default

    @property
    def defines(self) -> set[str]:
        return {word[2:].partition("=")[0] for word in self.text("define").split() if word.startswith("-D")}


def read(inputs: Inputs, name: str) -> Mdp:
    mdp = Mdp(name)
    if trouble := not_text(inputs, name):
        mdp.findings.append(trouble)
        return mdp
    for line in lines(inputs, name, 20_000):
        text = line.text.split(";")[0].strip()
        if not text:
            continue
        key, equals, value = text.partition("=")
        plain = re.sub(r"[-_]", "", key.strip().lower())
        at = {"file": name, "line": line.number, "thing": key.strip()[:60]}
        if not equals or not plain:
            mdp.findings.append(error(f"{name} line {line.number}: there is no = between a parameter and its value.",
                                      remedy="Write name = value, or put ; in front of a comment.", **at))  # type: ignore[arg-type] # fmt: skip
        elif plain in mdp.values:
            mdp.findings.append(error(f"{name} line {line.number}: {key.strip()} was set in line {mdp.values[plain].line} already.",
                                      remedy="Keep one of the two.", **at))  # type: ignore[arg-type] # fmt: skip
        elif not value.isascii() and plain != "title" and (blank := odd_blank(name, line.number, value)):
            mdp.findings.append(blank)
        else:
            mdp.values[plain] = Value(key.strip(), value.strip(), line.number)
    return mdp


def marked(inputs: Inputs, mdp: Mdp, allowed: int) -> Iterator[Finding]:
    """A byte-order mark: with a parameter behind it that is one warning, with anything else (a remark, nothing) an error."""
    first = next(iter(lines(inputs, mdp.name, 1)), None)
    stops = not allowed or not first or "=" not in first.text.split(";")[0]
    if mark := byte_order_mark(inputs, mdp.name, "grompp will not know the first parameter.", stops):
        yield mark


def check(mdp: Mdp, version: str, allowed: int, double: bool) -> Iterator[Finding]:
    yield from mdp.findings
    for plain, value in mdp.values.items():
        if plain not in NAMES and not _FAMILIES.fullmatch(plain):
            yield _unknown(mdp, value, plain, allowed)
        elif plain in _CHOICES or plain == "vdwtype":
            yield from _choice(mdp, value, plain)
        elif plain in _INTEGERS | _REALS:
            yield from _numeric(mdp, value, plain)
    yield from _span(mdp)
    yield from _groups(mdp)
    yield from _removed(mdp, version.strip())
    yield from _minimising(mdp)
    emtol = mdp.number("emtol", 10.0)
    if mdp.text("integrator").lower() in ("steep", "cg", "l-bfgs") and "emtol" in mdp.values and 0 < emtol < 1e-4 and not double:
        yield warning(f"{mdp.name} line {mdp.values['emtol'].line}: emtol {mdp.text('emtol')} is below what single precision can "
                      "reach.", file=mdp.name, line=mdp.values["emtol"].line, thing="emtol",
                      remedy="Give a larger tolerance, or use gmx_d.")  # fmt: skip


def _minimising(mdp: Mdp) -> Iterator[Finding]:
    """A minimisation that can't reach its tolerance: far too few steps, or no tolerance that a number can be below."""
    if mdp.text("integrator").lower() not in ("steep", "cg", "l-bfgs"):
        return
    steps, emtol = mdp.values.get("nsteps"), mdp.values.get("emtol")
    if steps and 0 < mdp.number("nsteps", 0) <= _FEW:
        yield warning(f"{mdp.name} line {steps.line}: a minimisation of {steps.text} step{'s' * (steps.text != '1')} can't reach its tolerance "
                      "(emtol).", file=mdp.name, line=steps.line, thing="nsteps", remedy="Allow for instance 50000 steps; it ends when it has converged.")  # fmt: skip
    if emtol and emtol.text and mdp.number("emtol", 10.0) <= 0:
        yield warning(f"{mdp.name} line {emtol.line}: the tolerance emtol = {emtol.text} can never be met.", file=mdp.name, line=emtol.line,
                      thing="emtol", remedy="Give a force in kJ/mol/nm, for instance 100.")  # fmt: skip


def _removed(mdp: Mdp, version: str) -> Iterator[Finding]:
    """The group scheme went with release 2020."""
    value = mdp.values.get("cutoffscheme")
    if not value or value.text.lower() != "group" or re.match(r"[45]\.|201\d", version):
        return
    found = _wrong(mdp, value, f"the group scheme is not in GROMACS {version or '2020 and later'}", "Write Verlet.")
    yield found if version else replace(found, severity=Severity.WARNING)


def _unknown(mdp: Mdp, value: Value, plain: str, allowed: int) -> Finding:
    near = difflib.get_close_matches(plain, NAMES, 1, 0.7)
    severity = Severity.WARNING if allowed > 0 else Severity.ERROR
    effect = "it is passed over (-maxwarn)" if allowed > 0 else "grompp stops at it"
    return Finding(severity, f"{mdp.name} line {value.line}: unknown parameter {value.name}; {effect}.", mdp.name, value.line,
                   value.name, f"Did you mean {near[0]}?" if near else "Take it out or correct it.")  # fmt: skip


def _choice(mdp: Mdp, value: Value, plain: str) -> Iterator[Finding]:
    words = value.text.split()
    allowed = [re.sub(r"[-_]", "", word) for word in _CHOICES[plain].split()]
    given = re.sub(r"[-_]", "", words[0].lower()) if words else ""
    if given and given not in allowed:
        near = difflib.get_close_matches(words[0].lower(), _CHOICES[plain].split(), 1, 0.5)
        yield _wrong(mdp, value, f"{words[0]} is no choice for {value.name}",
                     f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(_CHOICES[plain].split())}.")  # fmt: skip


def _numeric(mdp: Mdp, value: Value, plain: str) -> Iterator[Finding]:
    word = value.text.split()[0] if value.text else ""
    pattern = r"[-+]?\d+" if plain in _INTEGERS else r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
    if word and not re.fullmatch(pattern, word):
        kind = "a whole number" if plain in _INTEGERS else "a number"
        yield _wrong(mdp, value, f"{value.name} wants {kind}, not {word}", f"Write {kind}.")
    elif word and plain in ("rlist", "rcoulomb", "rvdw") and float(word) < 0:
        yield _wrong(mdp, value, f"{value.name} is {word}", "Give a distance above zero.")


def _span(mdp: Mdp) -> Iterator[Finding]:
    moves = mdp.text("integrator", "md").lower() in ("md", "sd", "bd", "md-vv", "md-vv-avek", "sd1", "sd2")
    if "dt" in mdp.values and moves and mdp.number("dt", 1) <= 0:
        yield _wrong(mdp, mdp.values["dt"], f"the time step dt is {mdp.text('dt')}", "Give a time step above zero.")
    steps = mdp.number("nsteps", 0)
    if "nsteps" in mdp.values and steps < -1:
        yield _wrong(mdp, mdp.values["nsteps"], f"nsteps is {mdp.text('nsteps')}", "Give a number of steps.")
    elif "nsteps" in mdp.values and steps == -1:
        yield warning(f"{mdp.name} line {mdp.values['nsteps'].line}: nsteps = -1 runs without end, until the time limit.",
                      file=mdp.name, line=mdp.values["nsteps"].line, thing="nsteps", remedy="Give a number of steps.")  # fmt: skip
    elif steps == 0 and moves and ("nsteps" in mdp.values or mdp.values):
        what = "nsteps is 0" if "nsteps" in mdp.values else "nsteps is not set, so it is 0"
        line = mdp.values["nsteps"].line if "nsteps" in mdp.values else 1
        yield warning(f"{mdp.name}: {what}: only one point would be computed.", file=mdp.name, line=line, thing="nsteps",
                      remedy="Give a number of steps.")  # fmt: skip


_SPELT = {"refp": "ref-p", "compressibility": "compressibility", "tcgrps": "tc-grps", "taut": "tau-t", "reft": "ref-t",
          "freezedim": "freezedim"}  # fmt: skip


def _groups(mdp: Mdp) -> Iterator[Finding]:
    """As many temperatures as groups; what a coupling or a freeze cannot do without."""
    for key, needed in (("pcoupl", ("refp", "compressibility")), ("tcoupl", ("tcgrps", "taut", "reft")), ("freezegrps", ("freezedim",))):
        value = mdp.values.get(key)
        on = value and value.text and value.text.split()[0].lower() not in ("no", "off")
        missing = [name for name in needed if on and not mdp.text(name)]
        if value and missing:
            yield _wrong(mdp, value, f"{value.name} = {value.text} has no {_SPELT[missing[0]]}", f"Add {_SPELT[missing[0]]}.")
    if mdp.number("dt", 0) > 0.5 and mdp.text("integrator", "md").lower() in ("md", "sd", "md-vv"):
        yield warning(f"{mdp.name} line {mdp.values['dt'].line}: the time step is {mdp.text('dt')} ps, far more than any model bears.",
                      file=mdp.name, line=mdp.values["dt"].line, thing="dt", remedy="Time is in ps: 0.002 is usual.")  # fmt: skip
    if mdp.text("tcoupl", "no").lower() == "no" and mdp.text("integrator").lower() not in ("sd", "bd"):
        return
    count = len(mdp.text("tcgrps").split())
    for name in ("taut", "reft"):
        given = len(mdp.text(name).split())
        if count and given != count:
            value = mdp.values.get(name) or mdp.values["tcgrps"]
            yield _wrong(mdp, value, f"there are {count} tc-grps, but {given} values of {'tau-t' if name == 'taut' else 'ref-t'}",
                         "Give one for each group.")  # fmt: skip


def _wrong(mdp: Mdp, value: Value, what: str, remedy: str) -> Finding:
    return error(f"{mdp.name} line {value.line}: {what}.", file=mdp.name, line=value.line, thing=value.name, remedy=remedy)
