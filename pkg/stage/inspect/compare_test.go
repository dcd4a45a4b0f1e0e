package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/cuobjdump"
)

// listed makes images from words such as "sm_90:k1,k2", "compute_90=9.0" and
// "lto_90".
func listed(t *testing.T, words string) []cuobjdump.Image {
	t.Helper()
	var images []cuobjdump.Image
	for _, word := range strings.Fields(words) {
		word, kernels, _ := strings.Cut(word, ":")
		name, version, _ := strings.Cut(word, "=")
		i := cuobjdump.Image{Target: target(t, name), PTXVersion: version}
		i.Kind = map[arch.Class]devicecode.Kind{arch.SM: devicecode.Cubin, arch.Compute: devicecode.PTX, arch.LTO: devicecode.LTOIR}[i.Target.Class]
		if kernels != "" {
			i.Kernels = strings.Split(kernels, ",")
		}
		images = append(images, i)
	}
	return images
}

func target(t *testing.T, name string) arch.Target {
	t.Helper()
	parsed, err := arch.ParseTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, must, may, theirs string
		agreed                  int
		differences             []string
	}{
		{"nothing", "", "", "", 0, nil},
		{"same", "sm_80:a,b compute_80=7.8", "", "sm_80:a,b compute_80=7.8", 4, nil},
		{"another order", "sm_80:a,b compute_80=7.8", "", "compute_80=7.8 sm_80:b,a", 4, nil},
		{"kernel missing there", "sm_80:a,b", "", "sm_80:a", 0, []string{"only cudaproof finds kernel b in sm_80"}},
		{"kernel missing here", "sm_80:a", "", "sm_80:a,b", 0, []string{"only cuobjdump finds kernel b in sm_80"}},
		{"other target", "sm_80:a", "", "sm_86:a", 0, []string{
			"only cudaproof finds sm_80 cubin", "only cuobjdump finds sm_86 cubin",
			"only cudaproof finds kernel a in sm_80", "only cuobjdump finds kernel a in sm_86",
		}},
		{"architecture-specific is not plain", "sm_90a", "", "sm_90", 0, []string{"only cuobjdump finds sm_90 cubin", "only cudaproof finds sm_90a cubin"}},
		{"duplicates count (C28)", "sm_80:a sm_80:a sm_80:a", "", "sm_80:a", 2, []string{
			"only cudaproof finds sm_80 cubin (2 times)", "only cudaproof finds kernel a in sm_80 (2 times)",
		}},
		{"kernels in other cubins", "sm_80:a,b sm_80", "", "sm_80:a sm_80:b", 0, []string{"the same kernels are in other images"}},
		{"PTX version", "compute_80=7.8", "", "compute_80=7.7", 0, []string{"only cuobjdump finds compute_80 ptx 7.7", "only cudaproof finds compute_80 ptx 7.8"}},
		{"nothing there", "sm_80", "", "", 0, []string{"only cudaproof finds sm_80 cubin"}},
		{"nothing here", "", "", "lto_80", 0, []string{"only cuobjdump finds lto_80 lto-ir"}},
		{"families named", "sm_100f:a sm_100:a", "", "sm_100f:a sm_100:a", 4, nil},
		{"families as plain (13.0 -lelf)", "sm_100f sm_90a", "", "sm_100 sm_90a", 2, nil},
		{"one family of two named", "sm_100f sm_120f", "", "sm_100f sm_120", 1, []string{"only cuobjdump finds sm_120 cubin", "only cudaproof finds sm_120f cubin"}},
		{"PTX of a family is never plain", "compute_100f", "", "compute_100", 0, []string{"only cuobjdump finds compute_100 ptx", "only cudaproof finds compute_100f ptx"}},
		{"elsewhere, seen", "sm_80", "sm_90:a", "sm_80 sm_90:a", 3, nil},
		{"elsewhere, not seen", "sm_80", "sm_90:a", "sm_80", 1, nil},
		{"elsewhere, seen otherwise", "sm_80", "sm_90:a", "sm_80 sm_90", 1, []string{"only cuobjdump finds sm_90 cubin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			agreed, differences := compare(listed(t, c.must), listed(t, c.may), listed(t, c.theirs))
			if agreed != c.agreed {
				t.Errorf("agreed on %d, want %d", agreed, c.agreed)
			}
			if diff := cmp.Diff(c.differences, differences); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOurLists(t *testing.T) {
	cubin := func(name string, kernels ...string) devicecode.Image {
		i := devicecode.Image{Kind: devicecode.Cubin, Target: target(t, name)}
		for _, k := range kernels {
			i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: k, Name: "demangled"})
		}
		return i
	}
	ptx := devicecode.Image{Kind: devicecode.PTX, Target: target(t, "compute_90"), PTXVersion: "9.0", Kernels: []devicecode.Kernel{{Mangled: "a"}}}
	got := ourLists(artifact.File{Objects: []artifact.Object{
		{Code: devicecode.Code{Containers: []devicecode.Container{
			{Section: ".nv_fatbin", Images: []devicecode.Image{cubin("sm_90", "a", "b"), ptx}},
			{Section: ".rodata", Images: []devicecode.Image{cubin("sm_80")}},
		}}},
		{Code: devicecode.Code{Containers: []devicecode.Container{
			{Section: "__nv_relfatbin", Images: []devicecode.Image{cubin("sm_75"), {Kind: devicecode.TileIR}}},
			{Role: devicecode.RawFile, Images: []devicecode.Image{cubin("sm_70")}},
			{Images: []devicecode.Image{cubin("sm_72")}}, // behind the last section
		}}},
	}})
	want := lists{must: listed(t, "sm_90:a,b compute_90=9.0 sm_75 sm_70"), may: listed(t, "sm_80 sm_72"), others: 1}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(lists{})); diff != "" {
		t.Error(diff)
	}
}
