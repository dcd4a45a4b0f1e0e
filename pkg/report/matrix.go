package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/judge"
)

// Matrix writes what devices take for the kernels of files.
func Matrix(w io.Writer, m *coverage.Matrix, style Style) error {
	p := &printer{w: w, style: style}
	matrix(p, m)
	return p.err
}

// shownPlaces is how many containers and kernels of a row are named.
const shownPlaces, shownNames = 5, 5

// fits are the answers in the order of reading.
var fits = []arch.Fit{arch.Native, coverage.LoadTimeLink, arch.JIT, arch.NotGuaranteed, arch.Unknown, arch.None}

// matrix writes the devices, then the kernels: those that some device cannot run
// first.
func matrix(p *printer, m *coverage.Matrix) {
	title := "Where it runs, by the rules of CUDA (a prediction: nothing was run)"
	if m.Driver != "" {
		title += fmt.Sprintf(", with %s", arch.Driver{CUDA: m.Driver})
	}
	p.title(title)
	if len(m.Rows) == 0 {
		p.text(2, "", "no kernels")
		return
	}
	wide := 0
	for _, s := range m.Summary {
		wide = max(wide, len(s.Products))
	}
	for _, s := range m.Summary {
		p.text(2, fmt.Sprintf("%-5s %-*s ", s.Device, min(wide, 36), s.Products), summary(s))
	}
	var missing []arch.Target
	for _, s := range m.Summary {
		driver, floor := arch.Driver{CUDA: m.Driver}, arch.FloorOfDevice(s.Device)
		switch {
		case unserved(s) == 0:
		case driver.Drops(s.Device):
			p.text(2, "", fmt.Sprintf("No code helps on %s with this driver: one of CUDA %s was the last to know the device.", s.Device, arch.CeilingOfDevice(s.Device)))
		case m.Driver != "" && !driver.AtLeast(floor):
			p.text(2, "", fmt.Sprintf("No code helps on %s with this driver: one of CUDA %s or newer knows the device.", s.Device, floor))
		default:
			missing = append(missing, s.Device.Target(arch.SM))
		}
	}
	addition(p, missing)
	bare := 0
	for _, r := range m.Rows {
		bare += r.Bare
	}
	if bare > 0 {
		p.text(2, "", count(bare, "module has", "modules have")+" device functions or variables but no kernel, and count as one kernel each.")
	}
	for _, r := range m.Rows {
		p.line("")
		p.text(2, "", fmt.Sprintf("%s in %s", count(r.Kernels, "kernel", "kernels"), count(r.Modules, "module", "modules")))
		if slices.ContainsFunc(r.Choices, func(c coverage.Choice) bool { return !c.Serves() }) {
			places(p, r.Places)
		} else {
			files(p, r.Places)
		}
		for _, line := range choices(m.Devices, r.Choices) {
			p.text(4, line[0]+"  ", line[1])
		}
	}
}

// maxAdded is how many devices the options are written out for.
const maxAdded = 6

// addition writes the options that add what is missing, on one line to copy.
func addition(p *printer, missing []arch.Target) {
	switch {
	case len(missing) > maxAdded:
		p.text(2, "", fmt.Sprintf("Ask about at most %d devices at a time for the options that add what is missing.", maxAdded))
	case len(missing) > 0:
		nvcc, notes := judge.Options(missing...)
		p.text(2, "", "To add what is missing ("+notes+"):")
		p.line("    " + nvcc)
	}
}

func summary(s coverage.Summary) string {
	var parts []string
	for _, fit := range fits {
		n := s.By[fit]
		switch {
		case n == 0:
		case n == s.Kernels:
			parts = append(parts, fmt.Sprintf("%s %d of %d", label(fit), n, s.Kernels))
		case fit == arch.None:
			parts = append(parts, fmt.Sprintf("none for %d", n))
		default:
			parts = append(parts, fmt.Sprintf("%s %d", label(fit), n))
		}
	}
	line := strings.Join(parts, ", ")
	if s.By[arch.Native] != s.Kernels && len(parts) > 1 {
		line += fmt.Sprintf(" of %d", s.Kernels)
	}
	if s.CUDA != "" {
		line += "; driver of CUDA " + s.CUDA + " or newer"
	}
	return line
}

func label(f arch.Fit) string {
	if f == arch.JIT {
		return "by JIT"
	}
	return string(f)
}

// unserved counts the kernels that do not run on a device, or of which nothing says
// that they do.
func unserved(s coverage.Summary) int {
	return s.By[arch.None] + s.By[arch.NotGuaranteed] + s.By[arch.Unknown]
}

func places(p *printer, list []coverage.Place) {
	for n, place := range list {
		if n == shownPlaces {
			p.text(4, "", fmt.Sprintf("and %d more", len(list)-n))
			return
		}
		names := place.Names[:min(len(place.Names), shownNames)]
		more := ""
		if place.Kernels > len(names) {
			more = ", ..."
		}
		p.text(4, "", strings.TrimSpace(place.File+" "+place.Container)+": "+strings.Join(names, ", ")+more)
	}
}

// files counts the modules of a row by file.
func files(p *printer, list []coverage.Place) {
	var order []string
	kernels := map[string]int{}
	for _, place := range list {
		if kernels[place.File] == 0 {
			order = append(order, place.File)
		}
		kernels[place.File] += place.Kernels
	}
	for n, file := range order {
		if n == shownPlaces {
			p.text(4, "", fmt.Sprintf("and %d more files", len(order)-n))
			return
		}
		p.text(4, "", fmt.Sprintf("%s: %s", file, count(kernels[file], "kernel", "kernels")))
	}
}

// choices gives the devices of one row and what they do, devices that do the same
// in one line.
func choices(devices []arch.Capability, list []coverage.Choice) [][2]string {
	var order []string
	by := map[string][]string{}
	for n, c := range list {
		text := c.String()
		if from, err := arch.ParseTarget(c.Image); c.Fit == arch.JIT && err == nil && from.Capability() != devices[n] {
			text = strings.Replace(text, c.Image, c.Image+", an older target", 1)
		}
		if by[text] == nil {
			order = append(order, text)
		}
		by[text] = append(by[text], devices[n].String())
	}
	var lines [][2]string
	for _, text := range order {
		lines = append(lines, [2]string{strings.Join(by[text], ", "), text})
	}
	return lines
}
