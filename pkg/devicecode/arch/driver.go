package arch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Driver is a driver library, by the newest CUDA version that it supports
// (cuDriverGetVersion): "13.0". That version decides what it loads and compiles,
// not the branch of the kernel driver: a forward-compatibility package replaces the
// library alone (CUDA Compatibility guide). The zero value is any driver.
type Driver struct{ CUDA string }

// ParseDriver reads a CUDA version ("13.0") or the version or branch of a driver
// for desktops and servers ("580.65.06", "550").
func ParseDriver(s string) (Driver, error) {
	parts := strings.Split(s, ".")
	for _, part := range parts {
		if n, err := strconv.ParseUint(part, 10, 16); err != nil || strconv.FormatUint(n, 10) != strings.TrimLeft(part, "0") && n != 0 {
			return Driver{}, fmt.Errorf("driver %q: want a CUDA version such as 13.0, or a driver such as 580 or 580.65.06", s)
		}
	}
	major, _ := strconv.Atoi(parts[0])
	if major < 100 && len(parts) == 2 {
		return Driver{CUDA: s}, nil
	}
	if major < 100 {
		return Driver{}, fmt.Errorf("driver %q: want a CUDA version such as 13.0, or a driver such as 580 or 580.65.06", s)
	}
	if r := first(func(r Release) bool { return r.Branch == major }); r != nil {
		return Driver{CUDA: r.CUDA}, nil
	}
	return Driver{}, fmt.Errorf("driver %q: which CUDA version branch %d supports is not known here: give that version, such as %s, as nvidia-smi or cuDriverGetVersion says it",
		s, major, Newest().CUDA)
}

// Release gives what the table has of the driver, nil where it has nothing.
func (d Driver) Release() *Release {
	return first(func(r Release) bool { return CompareVersions(r.CUDA, d.CUDA) == 0 })
}

// String gives the driver for people.
func (d Driver) String() string {
	r := d.Release()
	switch {
	case d == Driver{}:
		return "any driver"
	case r == nil || r.Branch == 0:
		return "a driver of CUDA " + d.CUDA
	}
	return fmt.Sprintf("a driver of CUDA %s (%d)", d.CUDA, r.Branch)
}

// AtLeast reports whether a driver supports a CUDA version.
func (d Driver) AtLeast(cuda string) bool { return CompareVersions(d.CUDA, cuda) >= 0 }

// CompilesPTX says whether a driver compiles PTX of an ISA version; known is false
// where the table does not tell. PTX does not take part in minor-version
// compatibility: a newer one gives error 222 (CUDA Compatibility guide).
func (d Driver) CompilesPTX(version string) (compiles, known bool) {
	needs := ToolkitOfPTX(version)
	switch {
	case needs != "":
		return d.AtLeast(needs), true
	case CompareVersions(version, Releases[0].PTX) < 0:
		return true, true // older than the table
	}
	// Newer than the table: so a driver of the table does not know it.
	return false, CompareVersions(d.CUDA, Newest().CUDA) <= 0
}

// FloorOfCubin gives the oldest CUDA version of a driver that loads machine code
// which a toolkit wrote: its own, from 11 on the first of the same major version
// (CUDA Compatibility guide, "Minor Version Compatibility"). It is empty where
// the toolkit is not known.
func FloorOfCubin(toolkit string) string {
	major, _, ok := strings.Cut(toolkit, ".")
	if n, err := strconv.Atoi(major); err != nil || !ok || n < 11 {
		return toolkit
	}
	return major + ".0"
}

// FloorOfCompression gives the oldest CUDA version of a driver that reads images so
// compressed, empty where any does. nvcc's --compress-mode, which writes zstd,
// needs a driver of CUDA 12.4 (nvcc manual 13.4); LZ4 is older than the table.
func FloorOfCompression(compression string) string {
	if compression == "zstd" {
		return "12.4"
	}
	return ""
}

// FloorOfDevice gives the first CUDA version that knows devices of a capability,
// empty where any of the table does or where the table does not have it.
func FloorOfDevice(c Capability) string {
	if since := c.Target(SM).Since(); since != Releases[0].CUDA {
		return since
	}
	return ""
}

// lastDrivers are the CUDA versions of the last driver branch that knows a device
// (NVIDIA, "CUDA Toolkit, Driver, and Architecture Matrix": Kepler R470; Maxwell,
// Pascal and Volta R580). Integrated devices that it does not name are left out.
var lastDrivers = map[Capability]string{
	{3, 5}: "11.4", {3, 7}: "11.4",
	{5, 0}: "13.0", {5, 2}: "13.0", {5, 3}: "13.0", {6, 0}: "13.0", {6, 1}: "13.0", {7, 0}: "13.0",
}

// CeilingOfDevice gives the CUDA version of the last driver that knows devices of a
// capability, empty where none is known to have dropped it.
func CeilingOfDevice(c Capability) string { return lastDrivers[c] }

// Drops reports whether a driver is newer than the last one that knows a device.
func (d Driver) Drops(c Capability) bool {
	last := CeilingOfDevice(c)
	return last != "" && CompareVersions(d.CUDA, last) > 0
}

// Newer gives the newer of CUDA versions; an empty one is older than all.
func Newer(versions ...string) string { return slices.MaxFunc(versions, CompareVersions) }
