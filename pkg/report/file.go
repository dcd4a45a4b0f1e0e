package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Files writes what inspection read of each file: targets by SASS and PTX with
// kernel counts, then what is special.
func Files(w io.Writer, files []record.Artifact, style Style) error {
	p := &printer{w: w, style: style}
	for _, a := range files {
		file(p, a, true)
	}
	return p.err
}

// file writes one file; problems are left out where findings name them.
func file(p *printer, a record.Artifact, problems bool) {
	p.text(2, "", a.Path)
	if a.SHA256 == "" {
		p.text(4, "", "not read: "+a.Problem)
		return
	}
	host := ""
	if len(a.Objects) > 0 && a.Objects[0].Host != nil {
		host = ", host " + a.Objects[0].Host.Machine
	}
	p.text(4, "", fmt.Sprintf("%s%s, %d bytes, SHA-256 %s", a.Format, host, a.Size, a.SHA256))
	lines := images(a)
	if len(lines) == 0 {
		lines = []string{"no device code"}
	}
	for _, l := range lines {
		p.text(4, "", l)
	}
	for _, d := range a.Dependencies {
		found := d.Path
		if found == "" {
			found = "not found here"
		}
		p.text(4, "needs ", d.Name+" => "+found)
	}
	if problems {
		if a.Problem != "" {
			p.text(4, "problem: ", a.Problem)
		}
		for _, o := range a.Objects {
			for _, problem := range o.Code.Problems {
				p.text(4, "problem: ", strings.TrimSpace(fmt.Sprintf("%s %s", o.Name, problem.Section))+fmt.Sprintf(" offset 0x%x: %s", problem.Offset, problem.Text))
			}
		}
		switch {
		case len(a.CrossCheck.Differences) > 0:
			for _, d := range a.CrossCheck.Differences {
				p.text(4, "cuobjdump differs: ", d)
			}
		case a.CrossCheck.Done:
			p.text(4, "", fmt.Sprintf("cross-check: cuobjdump %s agrees on %d targets and kernels", a.CrossCheck.Version, a.CrossCheck.Agreed))
		}
		if a.CrossCheck.NotDone != "" {
			p.text(4, "cross-check not done: ", a.CrossCheck.NotDone)
		}
	}
}

// images folds the images of a file into one line per kind, target and role.
func images(a record.Artifact) []string {
	type key struct{ what, role string }
	type sum struct{ images, kernels int }
	var order []key
	sums := map[key]sum{}
	for _, o := range a.Objects {
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				k := key{imageName(i), string(c.Role)}
				if _, seen := sums[k]; !seen {
					order = append(order, k)
				}
				s := sums[k]
				sums[k] = sum{s.images + 1, s.kernels + len(i.Kernels)}
			}
		}
	}
	slices.SortStableFunc(order, func(x, y key) int { return strings.Compare(x.role, y.role) })
	var lines []string
	for _, k := range order {
		s := sums[k]
		lines = append(lines, fmt.Sprintf("%-44s %s, %s, %s", k.what, count(s.images, "image", "images"), count(s.kernels, "kernel", "kernels"), k.role))
	}
	return lines
}

// imageName says what an image is.
func imageName(i devicecode.Image) string {
	if i.Problem != "" {
		return fmt.Sprintf("%s %s: unread: %s", i.Kind, i.Target, i.Problem)
	}
	var name string
	switch i.Kind {
	case devicecode.Cubin:
		name = "SASS " + i.Target.String()
	case devicecode.PTX, devicecode.RelocatablePTX:
		name = fmt.Sprintf("PTX  %s, ISA %s", i.Target, i.PTXVersion)
	default:
		name = fmt.Sprintf("%s %s", i.Kind, i.Target)
	}
	if i.Toolkit != "" {
		name += ", CUDA " + i.Toolkit
	}
	if i.Compression != "" {
		name += ", " + i.Compression
	}
	if i.Debug {
		name += ", debug"
	}
	if i.Empty() {
		name += ", empty (link stub)"
	}
	return name
}
