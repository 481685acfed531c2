#!/bin/bash
for f in *.dat; do
  if grep -q "#" $f; then
    echo "$f has a header"
done
