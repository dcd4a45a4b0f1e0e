// Package cubin reads cubins: ELF files that hold machine code for a GPU.
//
// debug/elf is of no use here. It rejects cubins of ABI 7, whose e_version is
// the version of the toolkit. The layouts were seen in our own files of nvcc
// 11.8 (ABI 7) and 13.0 (ABI 8); the names of the flags are those of LLVM's
// BinaryFormat/ELF.h.
package cubin
