echo 'Error in solve.default(a) : Lapack routine dgesv: system is exactly singular' >&2
echo 'Execution halted' >&2
exit 1
