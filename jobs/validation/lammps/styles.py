"""Styles of LAMMPS, and the potential files that every installation brings.

The one idea to know: a build has some of these styles and may have more. So a style that is not in the lists is only
held to be a typing mistake if it is very near to one that is.
"""

from __future__ import annotations

STYLES: dict[str, frozenset[str]] = {
    "pair_style": frozenset(
        """
        activate adp agni aip/water/2dm airebo airebo/morse amoeba atm awpmd/cut beck body/nparticle
        body/rounded/polygon body/rounded/polyhedron bop born born/coul/dsf born/coul/dsf/cs born/coul/long
        born/coul/long/cs born/coul/msm born/coul/wolf born/coul/wolf/cs born/gauss bpm/spring brownian
        brownian/poly buck buck/coul/cut buck/coul/long buck/coul/long/cs buck/coul/msm buck/long/coul/long
        buck/mdf buck6d/coul/gauss/dsf buck6d/coul/gauss/long colloid comb comb3 cosine/squared coul/ctip coul/cut
        coul/cut/global coul/debye coul/diel coul/dsf coul/exclude coul/long coul/long/cs coul/msm coul/shield
        coul/slater/cut coul/slater/long coul/streitz coul/tt coul/wolf coul/wolf/cs dispersion/d3 dpd dpd/ext
        dpd/ext/tstat dpd/fdt dpd/fdt/energy dpd/tstat drip dsmc e3b eam eam/alloy eam/alloy/opt eam/cd eam/cd/old
        eam/fs eam/fs/opt eam/he eam/opt edip edip/multi edpd eff/cut eim exp6/rx extep gauss gauss/cut gayberne
        gran/hertz/history gran/hooke gran/hooke/history granular gw gw/zbl harmonic/cut hbond/dreiding/lj
        hbond/dreiding/morse hdnnp hippo hybrid hybrid/overlay hybrid/scaled ilp/graphene/hbn kim
        kolmogorov/crespi/full kolmogorov/crespi/z lcbop lennard/mdf lepton lepton/coul line/lj list
        lj/charmm/coul/charmm lj/charmm/coul/charmm/implicit lj/charmm/coul/long lj/charmm/coul/long/opt
        lj/charmm/coul/msm lj/charmmfsw/coul/charmmfsh lj/charmmfsw/coul/long lj/class2 lj/class2/coul/cut
        lj/class2/coul/long lj/class2/coul/long/cs lj/class2/coul/long/soft lj/class2/soft lj/cubic lj/cut
        lj/cut/coul/cut lj/cut/coul/cut/dielectric lj/cut/coul/cut/soft lj/cut/coul/debye lj/cut/coul/dsf
        lj/cut/coul/long lj/cut/coul/long/cs lj/cut/coul/long/dielectric lj/cut/coul/long/opt
        lj/cut/coul/long/soft lj/cut/coul/msm lj/cut/coul/wolf lj/cut/dipole/cut lj/cut/dipole/long lj/cut/opt
        lj/cut/soft lj/cut/sphere lj/cut/thole/long lj/cut/tip4p/cut lj/cut/tip4p/long lj/cut/tip4p/long/opt
        lj/expand lj/expand/coul/long lj/gromacs lj/gromacs/coul/gromacs lj/long/coul/long lj/long/coul/long/opt
        lj/long/dipole/long lj/long/tip4p/long lj/mdf lj/pirani lj/relres lj/sdk lj/sdk/coul/long lj/sf
        lj/sf/dipole/sf lj/smooth lj/smooth/linear lj/spica lj/spica/coul/long lj96/cut local/density lubricate
        lubricate/poly lubricateU lubricateU/poly mdpd mdpd/rhosum meam meam/c meam/ms meam/spline meam/sw/spline
        mesocnt mesont/tpm mgpt mie/cut mliap momb morse morse/opt morse/smooth/linear multi/lucy multi/lucy/rx
        nb3b/harmonic nm/cut nm/cut/coul/cut nm/cut/coul/long oxdna/coaxstk oxdna/excv oxdna/hbond oxdna/stk
        oxdna/xstk oxdna2/coaxstk oxdna2/dh oxdna2/excv oxdna2/hbond oxdna2/stk oxdna2/xstk oxdna3/excv
        oxrna2/coaxstk oxrna2/dh oxrna2/excv oxrna2/hbond oxrna2/stk oxrna2/xstk pace pace/extrapolation peri/eps
        peri/lps peri/pmb peri/ves polymorphic python quip rann reax reax/c reaxff rebo resquared rheo rheo/solid
        saip/metal sdpd/taitwater/isothermal smd/hertz smd/tlsph smd/tri_surface smd/ulsph smtbq snap soft
        sph/heatconduction sph/idealgas sph/lj sph/rhosum sph/taitwater sph/taitwater/morris spin/dipole/cut
        spin/dipole/long spin/dmi spin/exchange spin/exchange/biquadratic spin/magelec spin/neel spline srp
        srp/react sw sw/angle/table sw/mod table table/rx tdpd tersoff tersoff/mod tersoff/mod/c tersoff/table
        tersoff/zbl thole threebody/table tip4p/cut tip4p/long tracker tri/lj uf3 ufm ufm/opt vashishta
        vashishta/table wf/cut yukawa yukawa/colloid zbl zero
        """.split()
    ),
    "bond_style": frozenset(
        """
        bpm/rotational bpm/spring class2 fene fene/expand fene/nm gaussian gromos harmonic harmonic/restrain
        harmonic/shift harmonic/shift/cut hybrid lepton mesocnt mm3 morse none nonlinear oxdna/fene oxdna2/fene
        oxrna2/fene quartic rheo/shell special table zero
        """.split()
    ),
    "angle_style": frozenset(
        """
        amoeba charmm class2 class2/p6 cosine cosine/buck6d cosine/delta cosine/periodic cosine/shift
        cosine/shift/exp cosine/squared cosine/squared/restricted cross dipole fourier fourier/simple gaussian
        harmonic hybrid lepton mesocnt mm3 mwlc none quartic sdk spica table zero
        """.split()
    ),
    "dihedral_style": frozenset(
        """
        charmm charmmfsw class2 cosine/shift/exp cosine/squared/restricted fourier harmonic helix hybrid lepton
        multi/harmonic nharmonic none opls quadratic spherical table table/cut zero
        """.split()
    ),
    "improper_style": frozenset(
        """
        amoeba class2 cossq cvff distance distharm fourier harmonic hybrid inversion/harmonic none ring sqdistharm
        umbrella zero
        """.split()
    ),
    "kspace_style": frozenset(
        """
        ewald ewald/dipole ewald/dipole/spin ewald/disp ewald/disp/dipole ewald/electrode msm msm/cg
        msm/dielectric none pppm pppm/cg pppm/dielectric pppm/dipole pppm/dipole/spin pppm/disp
        pppm/disp/dielectric pppm/disp/tip4p pppm/electrode pppm/stagger pppm/tip4p scafacos zero
        """.split()
    ),
    "atom_style": frozenset(
        """
        amoeba angle apip atomic body bond bpm/sphere charge dielectric dipole dpd edpd electron ellipsoid full
        hybrid line mdpd meso mesont molecular oxdna peri rheo rheo/thermal smd sph sphere spin tdpd template tri
        wavepacket
        """.split()
    ),
    "min_style": frozenset(
        """
        cg fire fire/old hftn quickmin sd spin spin/cg spin/lbfgs
        """.split()
    ),
    "run_style": frozenset(
        """
        respa respa/omp verlet verlet/split
        """.split()
    ),
    "fix": frozenset(
        """
        accelerate/cos acks2/reaxff adapt adapt/fep add/heat addforce addtorque amoeba/bitorsion amoeba/pitorsion
        append/atoms atc atom/swap atom_weight/apip ave/atom ave/chunk ave/correlate ave/correlate/long ave/grid
        ave/histo ave/histo/weight ave/moments ave/spatial ave/spatial/sphere ave/time aveforce balance bitorsion
        bocs bond/break bond/create bond/create/angle bond/react bond/swap box/relax brownian brownian/asphere
        brownian/sphere charge/regulation client/md cmap colvars controller damping/cundall deform deform/pressure
        deposit dpd/energy drag drude drude/transform/direct drude/transform/inverse dt/reset edpd/source efield
        efield/tip4p ehex electrode/conp electrode/conq electrode/thermo electron/stopping electron/stopping/fit
        enforce2d eos/cv eos/table eos/table/rx evaporate external ffl filter/corotate flow/gauss freeze gcmc gld
        gle graphics gravity grem halt heat heat/flow hmc hyper/global hyper/local imd indent ipi lambda/apip
        langevin langevin/drude langevin/eff langevin/spin latte lb/fluid lb/momentum lb/viscous lineforce
        manifoldforce mdi/qm mdi/qmmm meso/move mol/swap momentum momentum/chunk move mscg msst mvv/dpd mvv/edpd
        mvv/tdpd neb neb/spin neighbor/swap nonaffine/displacement nph nph/asphere nph/body nph/eff nph/sphere
        nphug npt npt/asphere npt/body npt/cauchy npt/eff npt/sphere npt/uef numdiff numdiff/virial nve
        nve/asphere nve/asphere/noforce nve/awpmd nve/body nve/bpm/sphere nve/dot nve/dotc/langevin nve/eff
        nve/limit nve/line nve/manifold/rattle nve/noforce nve/sphere nve/spin nve/tri nvk nvt nvt/asphere
        nvt/body nvt/eff nvt/manifold/rattle nvt/sllod nvt/sllod/eff nvt/sphere nvt/uef oneway orient/bcc
        orient/eco orient/fcc pafi pair/tracker phonon pimd pimd/langevin pimd/nvt pitorsion planeforce plumed
        poems polarize/bem/gmres polarize/bem/icc polarize/functional pour precession/spin press/berendsen
        press/langevin print propel/self property/atom python python/invoke python/move qbmsst qeq/comb qeq/ctip
        qeq/dynamic qeq/fire qeq/point qeq/reax qeq/reaxff qeq/rel/reaxff qeq/shielded qeq/slater qmmm qtb
        qtpie/reaxff rattle reax/c/bonds reax/c/species reaxff/bonds reaxff/species recenter reset/atom restrain
        rheo rheo/oxidation rheo/pressure rheo/tension rheo/thermal rheo/viscosity rhok rigid rigid/meso rigid/nph
        rigid/nph/small rigid/npt rigid/npt/small rigid/nve rigid/nve/small rigid/nvt rigid/nvt/small rigid/small
        rx saed/vtk set setforce setforce/spin sgcmc shake shardlow smd smd/adjust_dt smd/integrate_tlsph
        smd/integrate_ulsph smd/move_tri_surf smd/setvel smd/wall_surface sph sph/stationary spring spring/chunk
        spring/rg spring/self srd store/force store/state tdpd/source temp/berendsen temp/csld temp/csvr
        temp/rescale temp/rescale/eff tfmc tgnpt/drude tgnvt/drude thermal/conductivity ti/spring tmd ttm ttm/grid
        ttm/mod ttm/thermal tune/kspace vector viscosity viscous wall/body/polygon wall/body/polyhedron
        wall/colloid wall/ees wall/flow wall/gran wall/gran/region wall/harmonic wall/lepton wall/lj1043
        wall/lj126 wall/lj93 wall/morse wall/piston wall/reflect wall/reflect/stochastic wall/region
        wall/region/ees wall/srd wall/table widom
        """.split()
    ),
    "compute": frozenset(
        """
        ackland/atom adf aggregate/atom angle angle/local angmom/chunk ave/sphere/atom basal/atom body/local bond
        bond/local born/matrix centro/atom centroid/stress/atom chunk/atom chunk/spread/atom cluster/atom cna/atom
        cnp/atom com com/chunk composition/atom contact/atom coord/atom count/type damage/atom dihedral
        dihedral/local dilatation/atom dipole dipole/chunk displace/atom dpd dpd/atom dpd/energy edpd/temp/atom
        efield/atom efield/wolf/atom entropy/atom erotate/asphere erotate/rigid erotate/sphere erotate/sphere/atom
        event/displace fabric fep fep/ta force/tally fragment/atom gaussian/grid/local global/atom group/group
        gyration gyration/chunk gyration/shape gyration/shape/chunk heat/flux heat/flux/tally
        heat/flux/virial/tally hexorder/atom hma improper improper/local inertia/chunk ke ke/atom ke/atom/eff
        ke/eff ke/rigid mesont mliap momentum msd msd/chunk msd/nongauss nbond/atom omega/chunk orientorder/atom
        pace pair pair/local pe pe/atom pe/mol/tally pe/tally plasticity/atom pod/atom pod/gdd podd/atom pressure
        pressure/alchemy pressure/cylinder pressure/spherical pressure/uef property/atom property/chunk
        property/grid property/local ptm/atom rattlers/atom rdf reaxff/atom reaxff/bonds reduce reduce/chunk
        reduce/region rheo/property/atom rigid/local saed slcsa/atom slice smd/contact/radius smd/damage
        smd/hourglass/error smd/internal/energy smd/plastic/strain smd/plastic/strain/rate smd/rho
        smd/tlsph/defgrad smd/tlsph/dt smd/tlsph/num/neighs smd/tlsph/shape smd/tlsph/strain smd/tlsph/strain/rate
        smd/tlsph/stress smd/triangle/vertices smd/ulsph/effm smd/ulsph/num/neighs smd/ulsph/strain
        smd/ulsph/strain/rate smd/ulsph/stress smd/vol sna/atom sna/grid sna/grid/local snad/atom snap snav/atom
        sph/e/atom sph/rho/atom sph/t/atom spin stress/atom stress/cartesian stress/curvature stress/cylinder
        stress/mop stress/mop/profile stress/spherical stress/tally tally tdpd/cc/atom temp temp/asphere temp/body
        temp/chunk temp/com temp/cs temp/deform temp/deform/eff temp/drude temp/eff temp/partial temp/profile
        temp/ramp temp/region temp/region/eff temp/rotate temp/sphere temp/uef ti torque/chunk vacf vacf/chunk
        vcm/chunk viscosity/cos voronoi/atom xrd
        """.split()
    ),
    "dump": frozenset(
        """
        atom atom/adios atom/gz atom/mpiio atom/zstd cfg cfg/gz cfg/mpiio cfg/zstd custom custom/adios custom/gz
        custom/mpiio custom/zstd dcd extxyz extxyz/gz grid grid/vtk h5md image local local/gz local/zstd molfile
        movie netcdf netcdf/mpiio vtk xtc xyz xyz/gz xyz/mpiio xyz/zstd yaml
        """.split()
    ),
    "region": frozenset(
        """
        block cone cylinder intersect plane prism sphere union
        """.split()
    ),
}
