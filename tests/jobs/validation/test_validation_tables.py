"""Long tables are passed over, not cut off: nothing behind them is called missing, and texts of nothing are said."""

import pytest

from jobs.validation import Folder, Request, validate

ROWS = 60_000
ESPRESSO = """&control
 calculation='scf', prefix='h', outdir='./out', pseudo_dir='.'
/
&system
 ibrav=1, celldm(1)=8.0, nat=1, ntyp=1, ecutwfc=15., occupations='smearing', degauss=0.01
/
&electrons
/
ATOMIC_SPECIES
H 1.0 H.UPF
ATOMIC_POSITIONS bohr
H 0 0 0
K_POINTS crystal
{rows}
"""
NWCHEM = 'start w\ngeometry\n H 0 0 0\n H 0 0 0.74\nend\nbasis\n * library "sto-3g"\nend\nbq\n'


def found(folder, software, command):
    return [finding.message for finding in validate(Request(software, "", command, 2, Folder(folder)))]


def test_points_behind_the_ones_that_are_kept_are_counted_as_there(tmp_path):
    table = f"{ROWS}\n" + "0.1 0.2 0.3 1.0\n" * ROWS
    (tmp_path / "h.in").write_text(ESPRESSO.format(rows=table))
    (tmp_path / "H.UPF").write_text("<UPF>\n")
    assert found(tmp_path, "quantum_espresso", "pw.x -in h.in") == []


def test_a_card_behind_a_long_table_is_read(tmp_path):
    table = f"{ROWS}\n" + "0.1 0.2 0.3 1.0\n" * ROWS + "ATOMIC_POSITION bohr\nH 0 0 0\n"
    (tmp_path / "h.in").write_text(ESPRESSO.format(rows=table))
    (tmp_path / "H.UPF").write_text("<UPF>\n")
    assert any("ATOMIC_POSITION" in message for message in found(tmp_path, "quantum_espresso", "pw.x -in h.in"))


def test_the_end_and_the_task_behind_a_long_block_are_seen(tmp_path):
    (tmp_path / "w.nw").write_text(NWCHEM + " 0.1 0.2 0.3 0.001\n" * ROWS + "end\ntask scf energy\n")
    assert found(tmp_path, "nwchem", "nwchem w.nw") == []
    (tmp_path / "w.nw").write_text(NWCHEM + " 0.1 0.2 0.3 0.001\n" * ROWS + "end\ntask scff energy\n")
    assert any("scff" in message for message in found(tmp_path, "nwchem", "nwchem w.nw"))


@pytest.mark.parametrize("nothing", [b"\n", b" ", b"\0"])
@pytest.mark.parametrize(("software", "name", "start"), [
    ("calculix", "block.inp", b"*NODE\n1,0.,0.,0.\n"), ("quantum_espresso", "h.in", b"&control\n/\n"), ("nwchem", "w.nw", b"start w\n"),
    ("gromacs", "topol.top", b"[ defaults ]\n1 2\n"),
])  # fmt: skip
def test_a_text_that_goes_on_as_nothing_is_said(tmp_path, software, name, start, nothing):
    (tmp_path / name).write_bytes(start + nothing * (6 << 20))
    (tmp_path / "md.mdp").write_text("nsteps = 10\n")
    (tmp_path / "conf.gro").write_text("x\n1\n    1AR     AR    1   0.1   0.1   0.1\n 3.0 3.0 3.0\n")
    command = {"calculix": "ccx block", "quantum_espresso": "pw.x -in h.in", "nwchem": "nwchem w.nw"}.get(
        software, "gmx grompp -f md.mdp -c conf.gro -p topol.top"
    )
    assert any("nothing but zeros or blanks" in message or "binary zeros" in message for message in found(tmp_path, software, command))
