//go:build !amd64

package linkage

// hwcaps gives nothing: glibc defines no subfolders of glibc-hwcaps for arm64
// (glibc 2.33, NEWS).
func hwcaps() []string { return nil }
