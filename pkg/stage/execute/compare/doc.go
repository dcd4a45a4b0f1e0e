// Package compare compares a file that a run wrote with the wanted one within a
// tolerance: NumPy arrays by value, and text by its numbers.
package compare
