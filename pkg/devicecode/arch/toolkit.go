package arch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// release is one line of PTX's history.
type release struct {
	ptx     string // PTX ISA version
	toolkit string // the first CUDA toolkit that writes it
	targets []int  // target numbers that are new in it
}

// releases is the PTX release history (PTX ISA 9.4, section "Release Notes";
// targets also from LLVM's NVPTXTargetParser.def). 8.6 belongs to 12.7, which
// was never a public toolkit; 12.6 writes 8.5 like 12.5.
var releases = []release{
	{"6.0", "9.0", []int{30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70}}, // and all before it
	{"6.1", "9.1", []int{72}},
	{"6.2", "9.2", nil},
	{"6.3", "10.0", []int{75}},
	{"6.4", "10.1", nil},
	{"6.5", "10.2", nil},
	{"7.0", "11.0", []int{80}},
	{"7.1", "11.1", []int{86}},
	{"7.2", "11.2", nil},
	{"7.3", "11.3", nil},
	{"7.4", "11.4", []int{87}},
	{"7.5", "11.5", nil},
	{"7.6", "11.6", nil},
	{"7.7", "11.7", nil},
	{"7.8", "11.8", []int{89, 90}},
	{"8.0", "12.0", nil},
	{"8.1", "12.1", nil},
	{"8.2", "12.2", nil},
	{"8.3", "12.3", nil},
	{"8.4", "12.4", nil},
	{"8.5", "12.5", nil},
	{"8.6", "12.7", []int{100, 101}},
	{"8.7", "12.8", []int{120}},
	{"8.8", "12.9", []int{103, 121}},
	{"9.0", "13.0", []int{88, 110}},
	{"9.1", "13.1", nil},
	{"9.2", "13.2", nil},
	{"9.3", "13.3", nil},
	{"9.4", "13.4", []int{107}},
}

// ToolkitOfPTX gives the first CUDA toolkit that writes a PTX ISA version:
// "13.0" for "9.0". It is empty for a version that is not in the table, which
// begins with 6.0.
func ToolkitOfPTX(version string) string {
	for _, r := range releases {
		if r.ptx == version {
			return r.toolkit
		}
	}
	return ""
}

// Listed reports whether the number of a target is one that some toolkit from
// CUDA 9.0 to 13.5 names. A target that is not listed is newer than this
// table, or no target at all.
func (t Target) Listed() bool {
	return slices.ContainsFunc(releases, func(r release) bool { return slices.Contains(r.targets, t.Number) })
}

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
