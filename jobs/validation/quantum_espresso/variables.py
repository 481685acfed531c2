"""Variables of the namelists of pw.x by name, and what kind of value they take.

The one idea to know: a name that is not in its namelist makes Fortran stop with "bad line in namelist". The lists hold
the names of releases 5 to 7, so that a new deck is not held to be wrong.
"""

from __future__ import annotations

CONTROL = """calculation title verbosity restart_mode wf_collect nstep iprint tstress tprnfor dt outdir wfcdir prefix lkpoint_dir
    max_seconds etot_conv_thr forc_conv_thr disk_io pseudo_dir tefield dipfield lelfield nberrycyc lorbm lberry gdir nppstr lfcpopt
    gate saverho lfcp trism twochem tqmmm vdw_table_name refg memory point_label_type ndr ndw isave ekin_conv_thr lfcpopt max_xml_steps
    use_spinflip"""
SYSTEM = """ibrav celldm a b c cosab cosac cosbc nat ntyp nbnd nbnd_cond tot_charge starting_charge tot_magnetization
    starting_magnetization ecutwfc ecutrho ecutfock nr1 nr2 nr3 nr1s nr2s nr3s nr1b nr2b nr3b nosym nosym_evc noinv no_t_rev force_symmorphic
    use_all_frac occupations one_atom_occupations starting_spin_angle degauss_cond nelec_cond degauss smearing nspin
    sic_gamma pol_type sic_energy sci_vb sci_cb noncolin ecfixed qcutz q2sigma input_dft ace exx_fraction screening_parameter exxdiv_treatment
    x_gamma_extrapolation ecutvcut nqx1 nqx2 nqx3 localization_thr hubbard_occ hubbard_alpha hubbard_beta starting_ns_eigenvalue dmft
    dmft_prefix ensemble_energies edir emaxpos eopreg eamp angle1 angle2 lforcet constrained_magnetization fixed_magnetization
    lambda report lspinorb assume_isolated esm_bc esm_w esm_efield esm_nfit esm_debug esm_debug_gpmax esm_a esm_zb lgcscf gcscf_mu gcscf_conv_thr gcscf_beta
    vdw_corr london london_s6 london_c6 london_rvdw london_rcut dftd3_version dftd3_threebody ts_vdw_econv_thr ts_vdw
    ts_vdw_isolated xdm xdm_a1 xdm_a2 space_group uniqueb origin_choice rhombohedral zgate relaxz block block_1 block_2
    block_height nextffield lda_plus_u lda_plus_u_kind hubbard_u hubbard_u2 hubbard_j0 hubbard_j hubbard_v hubbard_u_back hubbard_alpha_back
    hubbard_parameters reserv reserv_back backall lback l1back u_projection_type starting_spin_angle nelec nelup neldw multiplicity
    fcp_mu do_ee la2f step_pen a_pen sigma_pen alpha_pen q2sigma sic_alpha sic_epsilon noptfcp force_pairing
    twochem london_c6 mbd_vdw exx_use_cube_domain exx_neigh exx_poisson_cutoff exx_ps_rcut_self exx_ps_rcut_pair exx_me_rcut_self
    exx_me_rcut_pair exx_dis_cutoff spline_ps real_space eband pot_order"""
ELECTRONS = """electron_maxstep scf_must_converge conv_thr adaptive_thr conv_thr_init conv_thr_multi mixing_mode mixing_beta mixing_ndim
    mixing_fixed_ns diagonalization diago_thr_init diago_cg_maxiter diago_david_ndim diago_full_acc diago_rmm_ndim diago_rmm_conv
    diago_gs_nblock diago_ppcg_maxiter efield efield_cart efield_phase startingpot startingwfc tqr real_space exx_maxstep tq_smoothing
    tbeta_smoothing occupation_constraints emass emass_cutoff orthogonalization ortho_eps ortho_max ortho_para electron_dynamics
    electron_damping electron_velocities electron_temperature ekincw fnosee ampre grease diis_size diis_nreset startingpot niter_cg_restart
    empty_states_nbnd n_inner epol passop efield2 epol2 lambda_cold maxiter etresh efield tcpbo tcg niter_cold_restart fermi_energy pre_state rotation_dynamics"""
IONS = """ion_positions ion_velocities ion_dynamics pot_extrapolation wfc_extrapolation remove_rigid_rot ion_temperature tempw tolp
    delta_t nraise refold_pos upscale bfgs_ndim trust_radius_max trust_radius_min trust_radius_ini w_1 w_2 fire_alpha_init
    fire_falpha fire_nmin fire_f_inc fire_f_dec fire_dtmax ion_radius ion_damping ion_nstepe iesr fnosep tranp amprp greasp
    tolp nhpcl nhptyp nhgrp fnhscl ndega phase_space num_of_images first_last_opt use_masses use_freezing opt_scheme temp_req ds k_max k_min
    path_thr ci_scheme sic_rloc n_fe_step sw_nstep"""
CELL = """cell_dynamics press wmass cell_factor press_conv_thr cell_dofree cell_parameters cell_velocities cell_damping
    cell_temperature temph fnoseh greash treinit_gvecs calwmass"""
FCP = """fcp_mu fcp_dynamics fcp_conv_thr fcp_ndiis fcp_mass fcp_velocity fcp_temperature fcp_tempw fcp_tolp fcp_delta_t fcp_nraise
    freeze_all_atoms fcp_rdiis fcp_scheme"""
RISM = """nsolv closure tempv ecutsolv solute_lj solute_epsilon solute_sigma starting1d starting3d smear1d smear3d rism1d_maxstep
    rism3d_maxstep rism1d_conv_thr rism3d_conv_thr mdiis1d_size mdiis3d_size mdiis1d_step mdiis3d_step rism1d_bond_width rism1d_dielectric
    rism1d_molesize rism1d_nproc rism3d_conv_level rism3d_planar_average laue_nfit laue_expand_right laue_expand_left laue_starting_right
    laue_starting_left laue_buffer_right laue_buffer_left laue_both_hands laue_wall laue_wall_z laue_wall_rho laue_wall_epsilon laue_wall_sigma
    laue_wall_lj6"""
NAMELISTS = {
    name: frozenset(words.split())
    for name, words in (("control", CONTROL), ("system", SYSTEM), ("electrons", ELECTRONS), ("ions", IONS), ("cell", CELL),
                        ("fcp", FCP), ("rism", RISM))
}  # fmt: skip
STRINGS = frozenset("calculation title verbosity restart_mode outdir wfcdir prefix disk_io pseudo_dir occupations smearing input_dft "
                    "vdw_corr assume_isolated mixing_mode diagonalization startingpot startingwfc ion_dynamics cell_dynamics "
                    "cell_dofree ion_temperature pot_extrapolation wfc_extrapolation constrained_magnetization".split())  # fmt: skip
INTEGERS = frozenset("ibrav nat ntyp nbnd nspin nstep electron_maxstep mixing_ndim iprint nr1 nr2 nr3".split())
REALS = frozenset("ecutwfc ecutrho degauss conv_thr mixing_beta dt etot_conv_thr forc_conv_thr a b c tot_charge press".split())
LOGICALS = frozenset("tprnfor tstress wf_collect tefield dipfield lelfield lorbm lberry gate nosym nosym_evc noinv no_t_rev noncolin "
                     "lspinorb lda_plus_u scf_must_converge adaptive_thr tqr remove_rigid_rot refold_pos xdm london ts_vdw".split())  # fmt: skip
CHOICES = {
    "calculation": "scf nscf bands relax md vc-relax vc-md cp vc-cp cp-wf ensemble",
    "restart_mode": "from_scratch restart reset_counters",
    "occupations": "smearing tetrahedra tetrahedra_lin tetrahedra_opt tetrahedra-lin tetrahedra-opt fixed from_input ensemble",
    "smearing": """gaussian gauss gaussian-smearing methfessel-paxton m-p mp marzari-vanderbilt cold m-v mv fermi-dirac f-d fd""",
    "mixing_mode": "plain tf local-tf",
    "cell_dynamics": "none sd damp-pr damp-w bfgs pr w ipi",
    "ion_dynamics": "none bfgs damp verlet langevin langevin-smc langevin+smc sd cg diis beeman fire velocity-verlet ipi",
}
# Pseudopotentials that packages of the distribution install for every deck.
BROUGHT = frozenset(
    """
    Al.pz-vbc.UPF As.pz-bhs.UPF Au.pz-rrkjus_aewfc.UPF B.pbe-n-kjpaw_psl.0.1.UPF B.pbe-n-kjpaw_psl.1.0.0.UPF
    B.pbe-n-rrkjus_psl.1.0.0.UPF B.pz-vbc.UPF C.UPF C.pbe-mt_gipaw.UPF C.pbe-n-kjpaw_psl.0.1.UPF C.pbe-rrkjus.UPF
    C.pbe-van_bm.UPF C.pz-rrkjus.UPF C.tpss-mt.UPF C_3.98148.UPF Co.pbesol-spn-rrkjus_psl.0.3.1.UPF
    CorelUSPBE.RRKJ3.UPF Cr.pbe-spn-kjpaw_psl.1.0.0.UPF Cu.pbe-kjpaw.UPF Cu.pz-d-rrkjus.UPF Fe.pbe-mt_fhi.UPF
    Fe.pbe-nd-rrkjus.UPF Fe.pbe-spn-rrkjus_psl.0.2.1.UPF Fe.pbesol-spn-kjpaw_psl.1.0.0.UPF Fe.pz-nd-rrkjus.UPF
    Fe.rel-pbe-spn-rrkjus_psl.0.2.1.UPF Ge.pbe-kjpaw.UPF H.blyp-vbc.UPF H.coulomb-ae.UPF H.pbe-kjpaw.UPF H.pz-vbc.UPF
    H.tpss-mt.UPF HUSPBE.RRKJ3 H_US.van I.pbe-n-kjpaw_psl.1.0.0.UPF Li.pbesol-s-kjpaw_psl.0.2.1.UPF
    Li.pbesol-s-rrkjus_psl.0.2.1.UPF Mg.pz-n-vbc.UPF N.pbe-kjpaw.UPF N.pbe-n-kjpaw_psl.0.1.UPF
    N.pbe-n-kjpaw_psl.1.0.0.UPF N.pbe-n-rrkjus_psl.1.0.0.UPF Ni.pbe-nd-rrkjus.UPF Ni.pbe-spn-kjpaw_psl.1.0.0.UPF
    Ni.pbesol-n-kjpaw_psl.0.1.UPF Ni.pbesol-n-rrkjus_psl.0.1.UPF Ni.pz-nd-rrkjus.UPF Ni.rel-pbe-nd-rrkjus.UPF
    O.blyp-mt.UPF O.pbe-kjpaw.UPF O.pbe-rrkjus.UPF O.pbesol-n-kjpaw_psl.0.1.UPF O.pbesol-n-rrkjus_psl.0.1.UPF
    O.pz-kjpaw.UPF O.pz-rrkjus.UPF O.pz-van_ak.UPF O_US.van Pb.pz-d-van.UPF Pt.rel-pbe-n-rrkjus.UPF
    Pt.rel-pz-n-rrkjus.UPF Rh.pbe-rrkjus_lb.UPF Rhs.pbe-rrkjus_lb.UPF Si.bhs Si.pbe-nl-rrkjus_psl.1.0.0.UPF
    Si.pbe-rrkj.UPF Si.pz-vbc.UPF Si.rel-pbe-rrkj.UPF Si_r.upf Ti.pz-sp-van_ak.UPF pb_s.UPF
    """.split()
)
