#!/bin/sh
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then kill -SEGV $$; fi
sleep 1
echo rank $OMPI_COMM_WORLD_RANK ok
