. ./params.txt
echo $n
