#!/bin/sh
# Builds a program that carries PTX as text and loads it through the driver, as
# Rust and Mojo programs do (case C26): embed.sh VERSION OUTPUT. The text's
# .version becomes VERSION (case C06).
set -eu
mkdir -p build
nvcc -ptx -arch=compute_90 made.cu -o build/made.ptx
sed "s/^\.version .*/.version $1/" build/made.ptx >"$2.ptx"
printf '.section .rodata\n.globl ptx\nptx: .incbin "%s"\n.byte 0\n.section .note.GNU-stack,"",@progbits\n' "$2.ptx" >"$2.s"
c++ -c "$2.s" -o "$2.text.o"
nvcc -c loader.cpp -o "$2.o"
# Linked without nvcc, which would add an image of its own.
root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
c++ "$2.o" "$2.text.o" -L"$root/lib64/stubs" -lcuda -o "$2"
