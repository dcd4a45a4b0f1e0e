package inspect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/ptxas"
)

// Assemble lets ptxas assemble the PTX of the artifacts: each image for the
// required devices that have no other way to its kernels, for those present, whose
// PTX runs compile it, and where that is none for the device that it is of.
// Several at once. Third-party files are left out.
func Assemble(ctx context.Context, m *manifest.Manifest, artifacts []record.Artifact, present []arch.Capability, o Options) {
	var jobs []assembly
	for n, a := range artifacts {
		if _, theirs := m.ThirdPartyOf(a.Path); !theirs {
			jobs = append(jobs, assemblies(n, a, m.Require.Capabilities(present), present)...)
		}
	}
	if len(jobs) == 0 {
		return
	}
	t, err := ptxas.Find(ctx, o.NVCC)
	dir, dirErr := os.MkdirTemp("", "cudaproof-ptx-")
	if dirErr == nil {
		defer os.RemoveAll(dir)
	}
	if err = cmp.Or(err, dirErr); err == nil {
		for n := range artifacts {
			extract(m.Abs(artifacts[n].Path), n, jobs, dir)
		}
	}
	each(len(jobs), o.Observer, func(n int) string {
		return fmt.Sprintf("ptxas %s: %s", jobs[n].Target, artifacts[jobs[n].artifact].Path)
	}, func(n int) {
		jobs[n].run(ctx, t, err, dir)
	})
	for _, j := range jobs {
		a := &artifacts[j.artifact]
		a.Assembled = append(a.Assembled, j.Assembly)
	}
}

// assembly is a PTX image to assemble for a target.
type assembly struct {
	record.Assembly
	artifact    int
	version     string // of the PTX ISA
	relocatable bool
}

// assemblies gives what is to be done for an artifact, each image and target once.
func assemblies(n int, a record.Artifact, wanted, present []arch.Capability) []assembly {
	var jobs []assembly
	seen := map[record.Assembly]bool{}
	add := func(i devicecode.Image, target arch.Target) {
		j := assembly{record.Assembly{SHA256: i.SHA256, PTX: i.Target, Target: target}, n, i.PTXVersion, i.Relocatable}
		if !seen[j.Assembly] {
			seen[j.Assembly] = true
			jobs = append(jobs, j)
		}
	}
	for _, o := range a.Objects {
		for _, mod := range coverage.Modules(a.FormatOf(o), o) {
			devices := slices.DeleteFunc(slices.Clone(wanted), func(c arch.Capability) bool {
				return !slices.Contains(present, c) && !dependsOnPTX(mod, c)
			})
			containers := [][]devicecode.Image{mod.Loaded}
			for _, in := range mod.Inputs {
				containers = append(containers, in.Images)
			}
			for _, images := range containers {
				for _, i := range images {
					if i.Kind != devicecode.PTX || i.SHA256 == "" {
						continue
					}
					asked := false
					for _, c := range devices {
						if nearestPTX(images, c) == i.Target {
							asked = true
							add(i, arch.Target{Class: arch.SM, Number: c.Target(arch.SM).Number, Suffix: i.Target.Suffix})
						}
					}
					if !asked {
						add(i, i.Target.As(arch.SM))
					}
				}
			}
		}
	}
	return jobs
}

// dependsOnPTX reports whether a device has no other way to some kernel of a
// module.
func dependsOnPTX(m coverage.Module, c arch.Capability) bool {
	return slices.ContainsFunc(m.Groups(), func(g coverage.Group) bool { return g.Choose(c, arch.Driver{}).Fit == arch.JIT })
}

// nearestPTX gives the target of the PTX that a device compiles, the zero target
// for none.
func nearestPTX(images []devicecode.Image, c arch.Capability) (best arch.Target) {
	for _, i := range images {
		if i.Kind == devicecode.PTX && i.Target.On(c) == arch.JIT && i.Target.Number >= best.Number {
			best = i.Target
		}
	}
	return best
}

// extract writes the PTX texts that the jobs need into a folder, by their hash. One
// that cannot be written is missing there.
func extract(path string, artifact int, jobs []assembly, dir string) {
	wanted := map[string]bool{}
	for _, j := range jobs {
		if j.artifact == artifact {
			wanted[j.SHA256] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	var once sync.Mutex
	open(context.Background(), path, path, devicecode.Options{Digests: true, PTX: func(sha256 string, text []byte) {
		once.Lock()
		first := wanted[sha256]
		delete(wanted, sha256)
		once.Unlock()
		if first {
			_ = os.WriteFile(filepath.Join(dir, sha256+".ptx"), text, 0o600)
		}
	}})
}

func (j *assembly) run(ctx context.Context, t ptxas.Tool, missing error, dir string) {
	path := filepath.Join(dir, j.SHA256+".ptx")
	switch {
	case missing != nil:
		j.NotDone = missing.Error()
		return
	case ctx.Err() != nil:
		j.NotDone = "interrupted"
		return
	}
	if j.NotDone = t.Refuses(j.version, j.Target); j.NotDone != "" {
		return
	}
	if _, err := os.Stat(path); err != nil {
		j.NotDone = "the PTX could not be written to a file: " + problem(err)
		return
	}
	r := t.Assemble(ctx, path, j.Target, j.relocatable)
	j.OK, j.Output, j.NotDone = r.OK, r.Output, r.NotDone
	if r.Kernel != "" {
		j.Kernel = devicecode.Name(r.Kernel)
	}
}
