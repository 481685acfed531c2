echo 'Uncaught TypeError: x is not a function' >&2
echo '    at main (/job/a.js:3:5)' >&2
exit 1
