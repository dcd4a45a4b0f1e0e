// Package devicecode reads the CUDA device code that a file carries.
//
// It takes bytes and gives values: it starts no process, logs nothing and
// knows nothing of projects, manifests or verdicts. The container format is
// not documented by NVIDIA, so every field is untrusted input: sizes are
// bounded before anything is allocated, and what is not known is reported as
// a [Problem] at its offset, never skipped. docs/device-code.md says what is
// known and from where.
package devicecode
