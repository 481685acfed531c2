"""Commands and styles of a LAMMPS script: typing mistakes.

The one idea to know: an unknown command ends LAMMPS; an unknown style may only be a package that this build lacks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .script import Command, Script, is_known
from .styles import STYLES

COMMANDS = frozenset(
    """angle_coeff angle_style angle_write atom_modify atom_style balance bond_coeff bond_style bond_write boundary box
    change_box clear comm_modify comm_style compute compute_modify create_atoms create_bonds create_box delete_atoms
    delete_bonds dielectric dihedral_coeff dihedral_style dihedral_write dimension displace_atoms dump dump_modify
    dynamical_matrix echo fitpod fix fix_modify geturl group group2ndx hyper if improper_coeff improper_style include info
    jump kim kim_init kim_interactions kim_param kim_property kim_query kim_style kspace_modify kspace_style label
    labelmap lattice log mass mdi message min_modify min_style minimize minimize/kk molecule ndx2group neb neb/spin
    neigh_modify neighbor newton next package pair_coeff pair_modify pair_style pair_write partition plugin prd print
    processors python quit read_data read_dump read_restart region replicate rerun reset_atom_ids reset_atoms reset_ids
    reset_mol_ids reset_timestep restart run run_style server set shell special_bonds suffix tad temper temper/grem
    temper/npt thermo thermo_modify thermo_style third_order timer timestep uncompute undump unfix units variable velocity
    write_coeff write_data write_dump write_restart communicate""".split()
)
_PLACE = {"fix": 2, "compute": 2, "dump": 2, "region": 1}  # where the style stands
_UNITS = {"lj", "real", "metal", "si", "cgs", "electron", "micro", "nano"}
_SUFFIX = re.compile(r"/(omp|gpu|kk|kk/host|kk/device|opt|intel)$")


def check(script: Script) -> Iterator[Finding]:
    for command in script.commands:
        if command.name not in COMMANDS and re.fullmatch(r"[A-Za-z_][\w/]*", command.name):
            yield _unknown(command)
        elif command.name in STYLES:
            yield from _style(command)
        elif command.name == "units" and is_known(command.word(0)) and command.word(0) not in _UNITS:
            yield _wrong(command, f"the units {command.word(0)} are not known", f"Write one of {', '.join(sorted(_UNITS))}.")


def _unknown(command: Command) -> Finding:
    near = difflib.get_close_matches(command.name, COMMANDS, 1, 0.75)
    if near:
        return _wrong(command, f"{command.name} is no command of LAMMPS", f"Did you mean {near[0]}?")
    return warning(f"{command.where}: {command.name} is no command of LAMMPS that is known here.", file=command.file,
                   line=command.line, thing=command.name, remedy="Check its spelling.")  # fmt: skip


def _style(command: Command) -> Iterator[Finding]:
    at = _PLACE.get(command.name, 0)
    style = _SUFFIX.sub("", command.word(at))
    known = STYLES[command.name] | {"none", "delete"}
    if not style or not is_known(style) or style in known:
        return
    near = [word for word in difflib.get_close_matches(style, sorted(known), 3, 0.86) if not _is_variant(style, word)]
    if near:
        yield _wrong(command, f"the {command.name.replace('_', ' ')} {style} is not known", f"Did you mean {near[0]}?")


def _is_variant(style: str, word: str) -> bool:
    """A name built on another, as of a newer version: mliap/unified, langevin/omp2."""
    return bool(re.match(re.escape(word) + r"[/_\d]", style)) or word.startswith(style + "/")


def _wrong(command: Command, what: str, remedy: str) -> Finding:
    return error(f"{command.where}: {what}.", file=command.file, line=command.line,
                 thing=command.name if command.name not in COMMANDS else command.word(_PLACE.get(command.name, 0)), remedy=remedy)  # fmt: skip
