echo 'panic: runtime error: index out of range [3] with length 3' >&2
echo 'goroutine 1 [running]:' >&2
exit 2
