// Package depcheck keeps the direction of dependencies: its test fails when a
// package imports against docs/architecture.md, or when a consumer of the
// targets would get more modules than it needs.
package depcheck
