echo "error: 'x' undefined" >&2
exit 1
