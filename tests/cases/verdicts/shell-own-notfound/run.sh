solve-it --fast
echo finished
