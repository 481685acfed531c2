"""Namelists of the programs that work on the results of pw.x: dos.x, bands.x, projwfc.x, pp.x, ph.x.

The one idea to know: Fortran stops at a name that it does not know. Releases differ in what they know, so only a name that is very
near to a known one is called wrong.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .deck import Deck

_ENERGIES = "prefix outdir ngauss degauss emin emax deltae"
_KNOWN: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "dos": f"{_ENERGIES} bz_sum fildos",
        "bands": "prefix outdir filband spin_component lsigma lp filp lsym no_overlap plot_2d firstk lastk",
        "projwfc": f"""{_ENERGIES} lsym diag_basis pawproj filpdos filproj lwrite_overlaps lbinary_data kresolveddos tdosinboxes n_proj_boxes
            irmin irmax plotboxes""",
        "inputpp": """prefix outdir filplot plot_num spin_component emin emax delta_e degauss_ldos sample_bias kpoint kband lsign lgauge wf_collect
            use_gauss_ldos""",
        "plot": "nfile filepp weight iflag output_format fileout interpolation e1 e2 e3 x0 nx ny nz radius",
        "inputph": """amass outdir prefix niter_ph tr2_ph alpha_mix nmix_ph verbosity reduce_io max_seconds dftdvscf fildyn fildrho fildvscf epsil
            lrpa lnoloc trans lraman eth_rps eth_ns dek recover low_directory_check only_init qplot q2d q_in_band_form electron_phonon
            el_ph_nsigma el_ph_sigma lshift_q zeu zue elop fpol ldisp nogg asr ldiag lqdir search_sym nq1 nq2 nq3 nk1 nk2 nk3 k1 k2 k3
            diagonalization read_dns_bare ldvscf_interpolate wpot_dir start_irr last_irr nat_todo modenum start_q last_q dvscf_star drho_star""",
    }.items()
}


def check(deck: Deck) -> Iterator[Finding]:
    for name, namelist in deck.namelists.items():
        known = _KNOWN.get(name, frozenset())
        for value in namelist.values.values():
            near = difflib.get_close_matches(value.name, known, 1, 0.8) if value.name not in known else []
            if near:
                yield error(f"{deck.name} line {value.line}: &{name} knows no variable {value.name}.", file=deck.name, line=value.line,
                            thing=value.name, remedy=f"Did you mean {near[0]}?")  # fmt: skip
