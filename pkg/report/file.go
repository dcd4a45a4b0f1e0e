package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Files writes what inspection read of each file: targets by SASS and PTX with
// kernel counts, then what is special.
// With kernels, it lists them too, as a manifest may name them.
func Files(w io.Writer, files []record.Artifact, kernels bool, style Style) error {
	p := &printer{w: w, style: style}
	for _, a := range files {
		file(p, a, true)
		if kernels {
			for _, name := range kernelNames(a) {
				p.text(4, "kernel ", name)
			}
		}
	}
	return p.err
}

// kernelNames gives the names of a file's kernels, sorted, each once.
func kernelNames(a record.Artifact) []string {
	names := map[string]bool{}
	for _, o := range a.Objects {
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				for _, k := range i.Kernels {
					names[k.Name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// file writes one file; problems are left out where findings name them.
func file(p *printer, a record.Artifact, problems bool) {
	p.text(2, "", a.Path)
	if a.SHA256 == "" {
		p.text(4, "", "not read: "+a.Problem)
		return
	}
	host := ""
	if len(a.Objects) > 0 && a.Objects[0].Host != nil && !a.IsArchive() {
		host = ", host " + a.Objects[0].Host.Machine
	}
	p.text(4, "", fmt.Sprintf("%s%s, %d bytes, SHA-256 %s", a.Format, host, a.Size, a.SHA256))
	if a.IsArchive() {
		members(p, a)
	} else {
		lines := images(a.Objects)
		if len(lines) == 0 {
			lines = []string{"no device code"}
		}
		for _, l := range lines {
			p.text(4, "", l)
		}
	}
	for _, d := range a.Dependencies {
		found := d.Path
		if found == "" {
			found = "not found here"
		}
		p.text(4, "needs ", d.Name+" => "+found)
	}
	if problems {
		unread(p, a)
	}
	crossCheck(p, a.CrossCheck, problems)
}

// members writes the files in an archive that hold device code, and counts the
// others.
func members(p *printer, a record.Artifact) {
	without := 0
	for n, o := range a.Objects {
		lines := images(a.Objects[n : n+1])
		if len(lines) == 0 {
			without++
			continue
		}
		host := ""
		if o.Host != nil {
			host = ", host " + o.Host.Machine
		}
		p.text(4, "!", fmt.Sprintf("%s (%s%s)", o.Name, o.Format, host))
		for _, l := range lines {
			p.text(6, "", l)
		}
	}
	p.text(4, "", fmt.Sprintf("no device code in %s, %s and %s",
		count(without, "program or library", "programs and libraries"), count(a.Others, "other file", "other files"), count(a.Links, "link", "links")))
}

// unread writes what could not be read of a file.
func unread(p *printer, a record.Artifact) {
	if a.Problem != "" {
		p.text(4, "problem: ", a.Problem)
	}
	for _, o := range a.Objects {
		for _, problem := range o.Code.Problems {
			place := strings.TrimSpace(o.Name + " " + problem.Section)
			p.text(4, "problem: ", fmt.Sprintf("%s offset 0x%x: %s", place, problem.Offset, problem.Text))
		}
	}
}

// crossCheck writes how the reading compares with cuobjdump's; differences and
// gaps are left out where findings name them.
func crossCheck(p *printer, c record.CrossCheck, problems bool) {
	if c.Done && len(c.Differences) == 0 {
		p.text(4, "", fmt.Sprintf("cross-check: cuobjdump %s agrees on %d targets and kernels", c.Version, c.Agreed))
	}
	if !problems {
		return
	}
	for _, d := range c.Differences {
		p.text(4, "cuobjdump differs: ", d)
	}
	if c.NotDone != "" {
		p.text(4, "cross-check not done: ", c.NotDone)
	}
}

// images folds the images of objects into one line per kind, target and role.
func images(objects []artifact.Object) []string {
	type key struct{ what, role string }
	type sum struct{ images, kernels int }
	var order []key
	sums := map[key]sum{}
	for _, o := range objects {
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
	if i.Obfuscated {
		name += ", obfuscated"
	}
	if i.Empty() {
		name += ", empty"
	}
	return name
}
