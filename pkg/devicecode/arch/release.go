package arch

import (
	"slices"
	"strconv"
	"strings"
)

// Release is a CUDA release: its toolkit, and the driver that came with it.
type Release struct {
	CUDA string // "13.0"
	PTX  string // the newest PTX ISA version that its toolkit writes and its driver compiles, "9.0"
	// Branch is the driver's branch on desktops and servers, 580; 0 where it is
	// not known. Jetson's drivers are numbered otherwise.
	Branch int
	// Driver is the oldest Linux driver that the toolkit asks for, "580.65.06";
	// empty where it is not known or there was no toolkit.
	Driver string
	// Targets are the targets that are new in it, without class: "90a".
	Targets string
}

// Releases is the history of CUDA as far as this edition knows it, oldest first.
//
// PTX versions and targets: PTX ISA 9.4, "Release Notes"; targets also LLVM's
// NVPTXTargetParser.def. Branches: PTX ISA 9.4, "Release Notes" ("supported on
// driver versions"). Drivers: CUDA 13.2 U2 release notes, table 3. 12.7 was never a
// public toolkit; 12.5 and 12.6 both write PTX 8.5. Of 13.5 nothing is known
// but its number and that of its PTX.
var Releases = []Release{
	{"9.0", "6.0", 384, "", "30 32 35 37 50 52 53 60 61 62 70"}, // and all before it
	{"9.1", "6.1", 387, "", "72"},
	{"9.2", "6.2", 396, "", ""},
	{"10.0", "6.3", 400, "410.48", "75"},
	{"10.1", "6.4", 418, "", ""},
	{"10.2", "6.5", 440, "", ""},
	{"11.0", "7.0", 445, "450.51.05", "80"},
	{"11.1", "7.1", 455, "455.23", "86"},
	{"11.2", "7.2", 460, "460.27.03", ""},
	{"11.3", "7.3", 465, "465.19.01", ""},
	{"11.4", "7.4", 470, "470.42.01", "87"},
	{"11.5", "7.5", 495, "495.29.05", ""},
	{"11.6", "7.6", 510, "510.39.01", ""},
	{"11.7", "7.7", 515, "515.43.04", ""},
	{"11.8", "7.8", 520, "520.61.05", "89 90"},
	{"12.0", "8.0", 525, "525.60.13", "90a"},
	{"12.1", "8.1", 530, "530.30.02", ""},
	{"12.2", "8.2", 535, "535.54.03", ""},
	{"12.3", "8.3", 545, "545.23.06", ""},
	{"12.4", "8.4", 550, "550.54.14", ""},
	{"12.5", "8.5", 555, "555.42.02", ""},
	{"12.6", "8.5", 560, "560.28.03", ""},
	{"12.7", "8.6", 565, "", "100 100a 101 101a"},
	{"12.8", "8.7", 570, "570.26", "120 120a"},
	{"12.9", "8.8", 575, "575.51.03", "100f 101f 103 103a 103f 120f 121 121a 121f"},
	{"13.0", "9.0", 580, "580.65.06", "88 110 110a 110f"},
	{"13.1", "9.1", 590, "590.44.01", ""},
	{"13.2", "9.2", 595, "595.45.04", ""},
	{"13.3", "9.3", 610, "610.43.02", ""},
	{"13.4", "9.4", 615, "", "107 107a 107f"},
	{"13.5", "9.5", 0, "", ""},
}

// removals are the targets that a toolkit no longer compiles for (CUDA 12.0 and
// 13.0 release notes, "Deprecated and Dropped Features"). 101 became 110.
var removals = map[string]string{
	"12.0": "35 37",
	"13.0": "50 52 53 60 61 62 70 72 101 101a 101f",
}

// first gives the oldest release for which is says yes, nil for none.
func first(is func(Release) bool) *Release {
	if n := slices.IndexFunc(Releases, is); n >= 0 {
		return &Releases[n]
	}
	return nil
}

// ToolkitOfPTX gives the first CUDA release that writes and compiles a PTX ISA
// version: "13.0" for "9.0". It is empty for a version that is not in the table,
// which begins with 6.0.
func ToolkitOfPTX(version string) string {
	if r := first(func(r Release) bool { return r.PTX == version }); r != nil {
		return r.CUDA
	}
	return ""
}

// Since gives the first CUDA release that knows a target, with its suffix:
// "12.0" for sm_90a, "9.0" for all before that release. It is empty for a target
// that is not in the table.
func (t Target) Since() string {
	name := strconv.Itoa(t.Number) + string(t.Suffix)
	if r := first(func(r Release) bool { return slices.Contains(strings.Fields(r.Targets), name) }); r != nil {
		return r.CUDA
	}
	return ""
}

// Until gives the first CUDA release whose toolkit no longer compiles for a
// target, empty where none is known.
func (t Target) Until() string {
	name := strconv.Itoa(t.Number) + string(t.Suffix)
	for cuda, targets := range removals {
		if slices.Contains(strings.Fields(targets), name) {
			return cuda
		}
	}
	return ""
}

// Listed reports whether the number of a target is one that some toolkit of the
// table names. A target that is not listed is newer than the table, older
// than CUDA 9.0, or no target at all.
func (t Target) Listed() bool { return Target{Number: t.Number}.Since() != "" }

// Listed reports whether the table has a target of exactly this capability.
func (c Capability) Listed() bool { return c.Target(SM).Listed() }

// Newest is the last CUDA release of the table.
func Newest() Release { return Releases[len(Releases)-1] }
