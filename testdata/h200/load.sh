#!/bin/sh
# Builds load, and one file of device code for it: load.sh FILE ARGUMENTS, where
# nvcc gets the arguments. A file of PTX may be changed by SED.
set -eu
mkdir -p build
file=$1
shift
nvcc "$@" made.cu -o "$file"
if [ -n "${SED-}" ]; then sed -i "$SED" "$file"; fi
root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
c++ -I"$root/include" load.cpp -L"$root/lib64/stubs" -lcuda -o build/load
