// Package cudasrc holds the CUDA sources that cudaproof builds where it runs.
// They lie in folders without Go files: the go command refuses a .cpp file
// beside Go files that do not use cgo.
package cudasrc

import "embed"

// Probe is the source of the program that lists the visible devices through
// the CUDA runtime. What it prints is said at its top.
//
//go:embed probe/probe.cu
var Probe string

// Trace holds the sources, in the folder trace, of the library that records what
// a process does with CUDA. How it is built and what it writes is said at the top
// of trace.cpp.
//
//go:embed trace
var Trace embed.FS
