package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// The helpers below make records by hand: these tests fake both device and
// file. Records of real runs are judged in replay_test.go.

func target(t *testing.T, s string) arch.Target {
	t.Helper()
	parsed, err := arch.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func targets(t *testing.T, list ...string) (out []arch.Target) {
	for _, s := range list {
		out = append(out, target(t, s))
	}
	return out
}

// image makes a readable image: "sm_90:a,b" is a cubin with kernels a and b,
// "compute_90:a" PTX, "sm_75" an empty stub, "sm_80:*" variables only.
func image(t *testing.T, s string) devicecode.Image {
	name, kernels, _ := strings.Cut(s, ":")
	i := devicecode.Image{Target: target(t, name), Kind: devicecode.Cubin, SHA256: s}
	switch i.Target.Class {
	case arch.Compute:
		i.Kind, i.PTXVersion = devicecode.PTX, "9.0"
	case arch.LTO:
		i.Kind = devicecode.LTOIR
	}
	if kernels == "*" {
		i.Variables = 1
		return i
	}
	for _, k := range strings.FieldsFunc(kernels, func(r rune) bool { return r == ',' }) {
		i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: k, Name: k})
	}
	return i
}

func container(t *testing.T, role devicecode.Role, images ...string) devicecode.Container {
	c := devicecode.Container{Section: ".nv_fatbin", Offset: 16, Role: role}
	for _, s := range images {
		c.Images = append(c.Images, image(t, s))
	}
	return c
}

func program(containers ...devicecode.Container) record.Artifact {
	return record.Artifact{
		Pattern: "app",
		File: artifact.File{
			Path: "app", SHA256: strings.Repeat("a", 64), Format: artifact.Executable,
			Objects: []artifact.Object{{
				Host: &artifact.Host{Machine: "x86_64", Bits: 64},
				Code: devicecode.Code{Containers: containers},
			}},
		},
	}
}

func wanting(t *testing.T, native, ptx []string) *manifest.Manifest {
	return &manifest.Manifest{
		Dir:       "/project",
		Artifacts: []manifest.Artifact{{Path: "app"}},
		Require:   manifest.Require{Native: targets(t, native...), PTX: targets(t, ptx...)},
	}
}

// ids gives the IDs of findings, sorted and without repeats.
func ids(found []Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.ID)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
