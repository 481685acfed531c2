echo " step 1"
echo "At line 31 of file heat.f90 (unit = 10, file = 'a.dat')" >&2
echo "Fortran runtime error: End of file" >&2
exit 2
