"""By what the output of a solver is known, whatever the job calls itself."""

from __future__ import annotations

import re

SIGNATURES: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("calculix", re.compile(rb"CalculiX Version|CalculiX COMES WITH|You are using an executable made on")),
    ("openfoam", re.compile(rb"OpenFOAM: The Open Source CFD Toolbox|OPENFOAM=|--> FOAM FATAL|OpenFOAM Foundation")),
    ("lammps", re.compile(rb"^LAMMPS \(", re.M)),
    ("gromacs", re.compile(rb":-\) GROMACS - gmx|^Program:? +gmx \w+, version|^starting mdrun", re.M)),
    ("quantum_espresso", re.compile(rb"Program (?:PWSCF|PHONON|CP|NEB|POST-PROC|DOS|BANDS|PROJWFC) +v\.|Quantum ESPRESSO suite")),
    ("nwchem", re.compile(rb"Northwest Computational Chemistry Package")),
)
