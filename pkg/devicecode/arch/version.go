package arch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// CompareVersions orders two dotted version numbers, such as CUDA's "11.8" and
// "13.0" or a driver's "580.65.06", part by part; a missing or malformed part
// counts as 0. The result is negative when a is the older one.
func CompareVersions(a, b string) int {
	return slices.CompareFunc(versionParts(a), versionParts(b), cmp.Compare[int])
}

// versionParts gives the numbers of a version without trailing zeros, so that
// "13" equals "13.0".
func versionParts(version string) []int {
	var parts []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		parts = append(parts, n)
	}
	for len(parts) > 0 && parts[len(parts)-1] == 0 {
		parts = parts[:len(parts)-1]
	}
	return parts
}
