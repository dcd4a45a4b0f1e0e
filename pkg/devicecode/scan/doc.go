// Package scan finds device code in the bytes of a file: containers in the two
// sections that nvcc writes and where the registration records of the CUDA
// runtime point, and containers, cubins and PTX texts anywhere else.
package scan
