"""Steps of a CalculiX deck: times that can't be, limits that can't be met, files that a step wants.

The one idea to know: each rule here is one that ccx itself ends with, or one after which its result is void.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import check_read
from ..plan import Step
from .cards import Card, Deck

_TIMED = {"STATIC", "DYNAMIC", "HEATTRANSFER", "VISCO", "COUPLEDTEMPERATURE-DISPLACEMENT",
          "UNCOUPLEDTEMPERATURE-DISPLACEMENT", "MODALDYNAMIC"}  # fmt: skip
_PROCEDURES = _TIMED | {"FREQUENCY", "BUCKLE", "NOANALYSIS", "CFD", "STEADYSTATEDYNAMICS", "COMPLEXFREQUENCY", "GREEN",
                        "SENSITIVITY", "ELECTROMAGNETICS", "SUBSTRUCTUREGENERATE", "ROBUSTDESIGN", "CRACKPROPAGATION",
                        "FEASIBLEDIRECTION", "HCF"}  # fmt: skip
_SUPPORTS = {"BOUNDARY", "BOUNDARYF", "EQUATION", "MPC", "SPRING", "RIGIDBODY", "CONTACTPAIR", "TIE", "SUBMODEL", "COUPLING",
             "CYCLICSYMMETRYMODEL", "DASHPOT", "GAP", "RESTART", "DISTRIBUTINGCOUPLING", "MASSFLOW", "FILM", "RADIATE",
             "USERELEMENT", "NETWORKMPC", "CFD"}  # fmt: skip
_BYTES_PER_NODE = 6_000  # what a direct solver needs at the very least for a node of a solid


def check(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    yield from _files(step, deck)
    for card in deck.cards:
        yield from _times(card) if card.name in _TIMED else ()
        yield from _count(card) if card.name in ("FREQUENCY", "BUCKLE") else ()
        yield from _elastic(card) if card.name == "ELASTIC" else ()
    yield from _increments(deck)
    yield from _nested(deck)
    if deck.complete and not any(True for _ in deck.of("RESTART")):
        yield from _whole(deck)
        yield from _density(deck)
        yield from _warm(deck)
    yield from _memory(request, deck)


def _whole(deck: Deck) -> Iterator[Finding]:
    """Nodes, elements, a step with a procedure, supports."""
    at = {"file": deck.name, "line": 1}
    names = {card.name for card in deck.cards}
    for name in ("NODE", "ELEMENT"):
        if deck.cards and not any(card.count for card in deck.of(name)) and "SUBSTRUCTUREGENERATE" not in names:
            yield error(f"{deck.name} defines no {name.lower()}s: there is nothing to compute.", thing=f"*{name}",
                        remedy=f"Add the *{name} cards, or include the mesh.", **at)  # type: ignore[arg-type] # fmt: skip
    if "STEP" not in names:
        yield error(f"{deck.name} has no *STEP: ccx would end at once without a result.", thing="*STEP",
                    remedy="Add *STEP with a procedure (*STATIC...), loads and *END STEP.", **at)  # type: ignore[arg-type] # fmt: skip
    elif last := _unended(deck):
        yield error(f"{last.file} line {last.line}: this *STEP has no *END STEP: ccx computes a step when it reads that, so it would pass over "
                    "it.", file=last.file, line=last.line, thing="*END STEP", remedy="End each step with *END STEP.")  # fmt: skip
    elif not names & _PROCEDURES:
        yield warning(f"{deck.name} has a *STEP without a procedure such as *STATIC.", thing="*STEP",
                      remedy="Add the procedure.", **at)  # type: ignore[arg-type] # fmt: skip
    if "STATIC" in names and not names & _SUPPORTS and not _springs(deck):
        yield warning(f"{deck.name} has no *BOUNDARY: the body is free to move and a static result would be void.",
                      thing="*BOUNDARY", remedy="Add supports.", **at)  # type: ignore[arg-type] # fmt: skip


def _unended(deck: Deck) -> Card | None:
    """The last step, if nothing ends it and there is something in it."""
    at, last = next(((at, card) for at, card in enumerate(deck.cards[::-1]) if card.name in ("STEP", "ENDSTEP")), (0, None))
    return last if last is not None and last.name == "STEP" and (at or len(list(deck.of("STEP"))) == 1) else None


def _nested(deck: Deck) -> Iterator[Finding]:
    begun: Card | None = None
    for card in deck.of("STEP", "ENDSTEP"):
        if card.name == "STEP" and begun is not None:
            yield error(f"{card.file} line {card.line}: a *STEP begins before that of line {begun.line} has its *END STEP.", file=card.file,
                        line=card.line, thing="*END STEP", remedy="End each step with *END STEP.")  # fmt: skip
            return
        begun = card if card.name == "STEP" else None


def _warm(deck: Deck) -> Iterator[Finding]:
    """*TEMPERATURE needs something to start from."""
    card = next(deck.of("TEMPERATURE"), None)
    starts = any("TEMPERATURE" in given.parameters.get("TYPE", "").upper() for given in deck.of("INITIALCONDITIONS"))
    if card is not None and not starts:
        yield error(f"{card.file} line {card.line}: *TEMPERATURE needs temperatures to start from, and there are none.", file=card.file,
                    line=card.line, thing="*INITIAL CONDITIONS",
                    remedy="Add *INITIAL CONDITIONS, TYPE=TEMPERATURE before the first *STEP.")  # fmt: skip


def _springs(deck: Deck) -> bool:
    return any(card.parameters.get("TYPE", "").upper().startswith(("SPRING", "DASH", "GAP", "U")) for card in deck.of("ELEMENT"))


def _files(step: Step, deck: Deck) -> Iterator[Finding]:
    """Files that cards read beside *INCLUDE."""
    for card in deck.cards:
        path = None
        if card.name in ("SUBMODEL", "VIEWFACTOR", "RADIATE", "REFINEMESH"):
            path = card.parameters.get("INPUT")
        elif card.name in ("TEMPERATURE", "INITIALCONDITIONS"):
            path = card.parameters.get("FILE")
        elif card.name == "RESTART" and "READ" in card.parameters:
            path = deck.name.rsplit("/", 1)[-1].removesuffix(".inp") + ".rin"
        if path and not step.conditional:
            yield from _file(step, card, path.replace('"', ""))


def _file(step: Step, card: Card, path: str) -> Iterator[Finding]:
    verb = f"(*{card.name}) reads"
    missing = "Add the .rout file of the earlier run under this name." if path.endswith(".rin") else ""
    found = check_read(step.tree, path, verb=verb, file=card.file, line=card.line, cwd=step.cwd, missing=missing)
    if found:
        yield found


def _numbers(card: Card) -> list[float | None]:
    text = card.data[0][1] if card.data else ""
    return [_number(value) for value in text.split(",")]


def _number(text: str) -> float | None:
    try:
        return float(text.upper().replace("D", "E"))
    except ValueError:
        return None


def _times(card: Card) -> Iterator[Finding]:
    """First line of a procedure: first increment, length of the step, smallest and largest increment."""
    first, period, least, most = (_numbers(card) + [None] * 4)[:4]
    at = {"file": card.file, "line": card.data[0][0] if card.data else card.line}
    where = f"{at['file']} line {at['line']}"
    name = f"*{card.name}"
    if first is not None and first < 0:
        yield error(f"{where}: the first increment of {name} is negative ({first:g}).", thing=f"{first:g}",
                    remedy="Give a time above zero.", **at)  # type: ignore[arg-type] # fmt: skip
    if period is not None and period < 0:
        yield error(f"{where}: the length of the step {name} is negative ({period:g}).", thing=f"{period:g}",
                    remedy="Give a time above zero.", **at)  # type: ignore[arg-type] # fmt: skip
    if period == 0 and first is not None:
        yield warning(f"{where}: the length of the step {name} is zero.", thing="0", remedy="Give a time above zero.",
                      **at)  # type: ignore[arg-type] # fmt: skip
    elif first is not None and period is not None and first > period > 0 and card.name != "MODALDYNAMIC":
        yield error(f"{where}: the first increment of {name} ({first:g}) is longer than the step ({period:g}).",
                    thing=f"{first:g}", remedy="Make it smaller, or the step longer.", **at)  # type: ignore[arg-type] # fmt: skip
    if least and most and least > most > 0:
        yield error(f"{where}: the smallest increment ({least:g}) is larger than the largest ({most:g}).",
                    thing=f"{least:g}", remedy="Exchange them.", **at)  # type: ignore[arg-type] # fmt: skip


def _increments(deck: Deck) -> Iterator[Finding]:
    """*STEP, INC=n with fixed increments that do not reach the end of the step."""
    limit, step = 100.0, None
    for card in deck.cards:
        if card.name == "STEP":
            limit, step = _number(card.parameters.get("INC", "")) or 100.0, card
        elif card.name in _TIMED and step is not None:
            first, period, _, most = (_numbers(card) + [None] * 4)[:4]
            fixed = first if "DIRECT" in card.parameters else most
            if fixed and period and fixed > 0 and period / fixed > limit * 1.001 and _nonlinear(step, card):
                yield warning(
                    f"{step.file} line {step.line}: at most {limit:g} increments are allowed, but the step of {period:g} "
                    f"with increments of at most {fixed:g} needs {period / fixed:.0f}: its end can't be reached.",
                    file=step.file, line=step.line, thing="INC", remedy=f"Write *STEP, INC={period / fixed * 1.2:.0f}.",
                )  # fmt: skip


def _nonlinear(step: Card, card: Card) -> bool:
    return "NLGEOM" in step.parameters or card.name != "STATIC" or "DIRECT" in card.parameters


def _count(card: Card) -> Iterator[Finding]:
    number = _numbers(card)[0]
    if number is not None and number < 1:
        yield error(f"{card.file} line {card.data[0][0]}: *{card.name} asks for {number:g} modes.", file=card.file,
                    line=card.data[0][0], thing=f"{number:g}", remedy="Ask for at least one.")  # fmt: skip


def _elastic(card: Card) -> Iterator[Finding]:
    kind = card.parameters.get("TYPE", "ISO").upper()
    values = _numbers(card)
    if not kind.startswith("ISO") or not card.data:
        return
    if len(values) < 2:
        yield error(f"{card.file} line {card.data[0][0]}: *ELASTIC wants two constants, Young's modulus and Poisson's ratio, and has one.",
                    file=card.file, line=card.data[0][0], thing="*ELASTIC", remedy="Add Poisson's ratio behind a comma.")  # fmt: skip
        return
    young, poisson = values[0], values[1]
    at = {"file": card.file, "line": card.data[0][0]}
    where = f"{at['file']} line {at['line']}"
    if poisson is not None and not -1.0 <= poisson < 0.5:
        yield error(f"{where}: Poisson's ratio is {poisson:g}; it must be below 0.5 (and not below -1).", thing=f"{poisson:g}",
                    remedy="Correct *ELASTIC.", **at)  # type: ignore[arg-type] # fmt: skip
    if young is not None and young <= 0:
        yield error(f"{where}: Young's modulus is {young:g}; it must be above zero.", thing=f"{young:g}", remedy="Correct *ELASTIC.",
                    **at)  # type: ignore[arg-type] # fmt: skip


def _density(deck: Deck) -> Iterator[Finding]:
    """No material has a density in an analysis that needs one, or no conductivity."""
    heat = next(deck.of("HEATTRANSFER"), None)
    networks = any(True for _ in deck.of("FLUIDSECTION", "USERMATERIAL", "FLUIDCONSTANTS"))
    if heat and not networks and not any(True for _ in deck.of("CONDUCTIVITY")) and any(True for _ in deck.of("SOLIDSECTION")):
        yield error(f"{heat.file} line {heat.line}: *HEAT TRANSFER needs a conductivity, but no material has a *CONDUCTIVITY.",
                    file=heat.file, line=heat.line, thing="*CONDUCTIVITY", remedy="Add *CONDUCTIVITY to the material.")  # fmt: skip
    needs = next(deck.of("FREQUENCY", "DYNAMIC"), None) or next(filter(_weighs, deck.of("DLOAD")), None)
    if needs is None or any(True for _ in deck.of("DENSITY", "MASS", "USERMATERIAL", "USERELEMENT")) or not any(deck.of("ELASTIC")):
        return
    yield error(f"{needs.file} line {needs.line}: *{needs.name} needs masses, but no material has a *DENSITY.",
                file=needs.file, line=needs.line, thing="*DENSITY", remedy="Add *DENSITY to the material.")  # fmt: skip


def _weighs(card: Card) -> bool:
    return any(text.upper().split(",")[1:2] in (["GRAV"], ["CENTRIF"]) for _, text in card.data)


def _memory(request: Request, deck: Deck) -> Iterator[Finding]:
    nodes = sum(card.count for card in deck.of("NODE"))
    need = nodes * _BYTES_PER_NODE
    if request.memory and nodes > 20_000 and need > request.memory:
        make = error if need > 2 * request.memory else warning
        yield make(f"{deck.name} has {nodes:,} nodes: a direct solution needs at least {need >> 30} GiB, the node has "
                      f"{request.memory / (1 << 30):.0f} GiB.", file=deck.name, line=1, thing="memory",
                      remedy="Choose hardware with more memory.")  # fmt: skip
