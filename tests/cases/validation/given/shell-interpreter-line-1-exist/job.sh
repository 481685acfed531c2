#!/usr/bin/bsh
echo hallo
