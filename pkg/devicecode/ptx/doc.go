// Package ptx reads the directives of a PTX text that say what it holds:
// .version, .target, .entry, .func and module-scope variables (PTX ISA 9.0,
// "Directives"). It reads tokens, so a directive's name within a comment, a
// string or a parameter list is not taken for one.
package ptx
