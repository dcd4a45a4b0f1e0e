#!/bin/sh
# Records the evidence in evidence/: run it on an H200 with a cudaproof binary
# (`go tool mage dist`) in $1. The exit code of each verification is printed;
# most of these builds are meant to fail.
set -u
cudaproof=$(readlink -f "$1")
cd "$(dirname "$0")"
for manifest in *.yaml; do
  "$cudaproof" verify -manifest="$manifest" >/dev/null 2>"build.${manifest%.yaml}.txt"
  echo "${manifest%.yaml}: exit code $?"
  mkdir -p "evidence/${manifest%.yaml}"
  mv "build.${manifest%.yaml}.txt" "evidence/${manifest%.yaml}/report.txt"
done
