// Package scan finds fatbin containers in a host ELF file: in the two sections
// that nvcc writes, through the registration records of the CUDA runtime, and
// by their magic in the rest of the file.
package scan
