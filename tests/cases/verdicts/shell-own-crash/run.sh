echo begin
bash -c 'kill -SEGV $$'
echo end
