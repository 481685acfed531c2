#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
app=$(sed -n "s/^application *\([A-Za-z]*\);/\1/p" system/controlDict)
for tool in blockMesh checkMesh "$app"; do
    "$tool" > "log.$tool"
done
