"""Names of the potential files that the distribution of LAMMPS brings: an installation finds them by itself."""

from __future__ import annotations

BROUGHT = frozenset(
    """
    Ag_u3.eam AlCu.adp AlCu.bop.table AlCu.eam.alloy AlCuH.bop.table AlFe_mm.eam.fs AlO.eam.alloy AlO.streitz
    AlSiMgCuFe.meam Al_Batra_2019.agni Al_jnp.eam Al_jpc.agni Al_mm.eam.fs Al_prb.agni Al_zhou.eam.alloy Au_u3.eam
    BN.extep BNC.tersoff BNCH-old.ILP BNCH.ILP BNC_MBD_bulk.ILP BNC_TS_bulk.ILP C.drip C.lcbop CC.KC CC.KC-full
    CC.Lebedeva CCu_v2.bop.table CH.KC CH.airebo CH.airebo-m CH.rebo CH_taper.KC CdTe.bop.table CdTe.sw
    CdTeSe.bop.table CdTeZn.bop.table CdTeZnSeHgS0.sw CdZnTe_v1.bop.table CdZnTe_v2.bop.table CoAl.eam.alloy
    Cu-PBE-core-rep.ace Cu.meam Cu.nn.mliap.model Cu.snap.mliap.descriptor CuH.bop.table CuNi.eam.alloy CuTa.eam.alloy
    CuTa_eam.poly CuZr_mm.eam.fs Cu_Huan_2019_fp1.agni Cu_Huan_2019_fp2.agni Cu_Zuo_JPCA2020.quadratic.snap
    Cu_Zuo_JPCA2020.quadratic.snapcoeff Cu_Zuo_JPCA2020.quadratic.snapparam Cu_Zuo_JPCA2020.snap
    Cu_Zuo_JPCA2020.snapcoeff Cu_Zuo_JPCA2020.snapparam Cu_mishin1.eam.alloy Cu_smf7.eam Cu_u3.eam Cu_u6.eam
    Cu_zhou.eam.alloy FeCH_BOP_I.poly FeCH_BOP_II.poly FeCr.cdeam FeP_mm.eam.fs Fe_mm.eam.fs GaAs.bop.table GaN.sw
    GaN.tersoff GaN_sw.poly GaN_tersoff.poly Ge.tersoff Ge_Zuo_JPCA2020.quadratic.snap
    Ge_Zuo_JPCA2020.quadratic.snapcoeff Ge_Zuo_JPCA2020.quadratic.snapparam Ge_Zuo_JPCA2020.snap
    Ge_Zuo_JPCA2020.snapcoeff Ge_Zuo_JPCA2020.snapparam He_He_JW2013.table InP.vashishta InP_JCPA2020.mliap
    InP_JCPA2020.mliap.descriptor InP_JCPA2020.mliap.model InP_JCPA2020.snap InP_JCPA2020.snapcoeff
    InP_JCPA2020.snapparam Li_Zuo_JPCA2020.quadratic.snap Li_Zuo_JPCA2020.quadratic.snapcoeff
    Li_Zuo_JPCA2020.quadratic.snapparam Li_Zuo_JPCA2020.snap Li_Zuo_JPCA2020.snapcoeff Li_Zuo_JPCA2020.snapparam
    MOH.nb3b.harmonic MgAl.rann Mg_mm.eam.fs Mo5.2.mgpt.parmin Mo5.2.mgpt.potin Mo_Chen_PRM2017.snap
    Mo_Chen_PRM2017.snapcoeff Mo_Chen_PRM2017.snapparam Mo_Zuo_JPCA2020.quadratic.snap
    Mo_Zuo_JPCA2020.quadratic.snapcoeff Mo_Zuo_JPCA2020.quadratic.snapparam Mo_Zuo_JPCA2020.snap
    Mo_Zuo_JPCA2020.snapcoeff Mo_Zuo_JPCA2020.snapparam Ni.adp Ni.meam NiAlH_jea.eam.alloy NiAlH_jea.eam.fs
    Ni_Mo.mliap.descriptor Ni_Mo.mliap.model Ni_Zuo_JPCA2020.quadratic.snap Ni_Zuo_JPCA2020.quadratic.snapcoeff
    Ni_Zuo_JPCA2020.quadratic.snapparam Ni_Zuo_JPCA2020.snap Ni_Zuo_JPCA2020.snapcoeff Ni_Zuo_JPCA2020.snapparam
    Ni_smf7.eam Ni_u3.eam PdHHe.eam.he Pd_u3.eam Pt_Chapman_2020.agni Pt_u3.eam Si.b.meam.sw.spline Si.edip
    Si.nn.mliap.descriptor Si.nn.mliap.model Si.sw Si.tersoff Si.tersoff.mod Si.tersoff.modc SiC.edip SiC.gw
    SiC.gw.zbl SiC.meam SiC.tersoff SiC.tersoff.zbl SiC.vashishta SiCGe.tersoff SiC_1989.tersoff SiC_1990.tersoff
    SiC_1994.tersoff SiC_Erhart-Albe.tersoff SiGeH.sw.quip SiO.1990.vashishta SiO.1994.vashishta SiO.1997.vashishta
    SiO.tersoff Si_1.meam.spline Si_2.meam.spline Si_Zuo_JPCA2020.quadratic.snap Si_Zuo_JPCA2020.quadratic.snapcoeff
    Si_Zuo_JPCA2020.quadratic.snapparam Si_Zuo_JPCA2020.snap Si_Zuo_JPCA2020.snapcoeff Si_Zuo_JPCA2020.snapparam
    Ta06A.mliap Ta06A.mliap.descriptor Ta06A.mliap.model Ta06A.nn.mliap Ta06A.nn.mliap.model Ta06A.pytorch.mliap
    Ta06A.snap Ta06A.snapcoeff Ta06A.snapparam Ta4.mgpt.parmin Ta4.mgpt.potin Ta6.8x.mgpt.parmin Ta6.8x.mgpt.potin
    Ti.meam.spline Ti.meam.sw.spline Ti.rann TiO.meam.spline TiZr_2.rann TlBr_msw.poly V6.1.mgpt.parmin
    V6.1.mgpt.potin VFe_mm.eam.fs W.quadratic.mliap W.quadratic.mliap.descriptor W.quadratic.mliap.model
    WBe_Wood_PRB2019.mliap WBe_Wood_PRB2019.mliap.descriptor WBe_Wood_PRB2019.mliap.model WBe_Wood_PRB2019.snap
    WBe_Wood_PRB2019.snapcoeff WBe_Wood_PRB2019.snapparam WL.meam W_2940_2017_2.snap W_2940_2017_2.snapcoeff
    W_2940_2017_2.snapparam W_2940_2017_2_He_JW2013.snap W_He_JW2013.table W_zhou.eam.alloy Zn.rann Zr.rann
    Zr_mm.eam.fs charmm22.cmap charmm36.cmap ci-reaxFF_ZBL.dat ffield.ci-reax.CH ffield.comb ffield.comb3 ffield.eim
    ffield.reax.AB ffield.reax.AuO ffield.reax.FC ffield.reax.Fe_O_C_H ffield.reax.V_O_C_H ffield.reax.ZnOH
    ffield.reax.budzien ffield.reax.cho ffield.reax.lg ffield.reax.mattsson ffield.reax.rdx ffield.smtbq.Al
    ffield.smtbq.Al2O3 ffield.smtbq.TiO2 lib.comb3 library.meam
    """.split()
)
