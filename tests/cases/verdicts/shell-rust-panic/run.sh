echo "thread 'main' panicked at src/main.rs:3:5:" >&2
echo 'index out of bounds' >&2
exit 101
