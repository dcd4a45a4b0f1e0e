// Package fatbin reads fatbin containers: the header, the entries, and the
// payload of an entry as it was before compression.
//
// NVIDIA does not document the format. What is known was seen in files built
// from our own sources with nvcc 11.8 and 13.0 and agrees with the public
// parsers named in docs/device-code.md. All numbers are little-endian.
package fatbin
