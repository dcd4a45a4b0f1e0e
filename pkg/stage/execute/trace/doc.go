// Package trace builds the trace library (cuda_src/trace) and reads what it
// records: which modules the driver loaded in a process, which kernels were
// launched how often, and what failed.
package trace
