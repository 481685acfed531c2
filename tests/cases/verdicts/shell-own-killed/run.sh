echo begin
bash -c 'kill -KILL $$'
echo end
