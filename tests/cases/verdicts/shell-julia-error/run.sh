echo 'ERROR: LoadError: DomainError with -1.0:' >&2
echo 'Stacktrace:' >&2
echo ' [1] sqrt(x::Float64)' >&2
exit 1
