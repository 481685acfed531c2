echo start
echo 'Exception in thread "main" java.lang.NullPointerException' >&2
echo "	at solver.Main.main(Main.java:12)" >&2
