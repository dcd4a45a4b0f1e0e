package cuobjdump

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// image makes an image from its target, which tells its kind.
func image(t *testing.T, name, ptx string, kernels ...string) Image {
	t.Helper()
	if name == "" {
		return Image{Kind: devicecode.Cubin, Kernels: kernels}
	}
	target, err := arch.ParseTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	kind := map[arch.Class]devicecode.Kind{arch.SM: devicecode.Cubin, arch.Compute: devicecode.PTX, arch.LTO: devicecode.LTOIR}
	return Image{Kind: kind[target.Class], Target: target, PTXVersion: ptx, Kernels: kernels}
}

func TestReadRecordedOutput(t *testing.T) {
	const saxpy, axpy, three, four = "_ZN2ns5saxpyIfEEvPT_", "_ZN2ns4axpyIfEEvPT_", "_Z5threePi", "_Z4fourPi"
	with := func(name, ptx string, kernels ...string) Image { return image(t, name, ptx, kernels...) }
	only := func(names ...string) (images []Image) {
		for _, name := range names {
			images = append(images, image(t, name, ""))
		}
		return images
	}
	for name, want := range map[string]Reading{
		"11.8-multi": {
			only("sm_80", "compute_80", "sm_90", "compute_90"),
			[]Image{with("sm_80", "", saxpy, three), with("compute_80", "7.8"), with("sm_90", "", saxpy, three), with("compute_90", "7.8")},
		},
		"11.8-rdc": {
			only("sm_90", "sm_90", "compute_90", "sm_90", "compute_90"),
			[]Image{with("sm_90", "", "_Z2kdPi", "_Z2kmPi"), with("sm_90", "", "_Z2kdPi"), with("compute_90", "7.8"), with("sm_90", "", "_Z2kmPi"), with("compute_90", "7.8")},
		},
		"11.8-archive": {
			only("sm_80", "compute_80", "sm_80", "compute_80"),
			[]Image{with("sm_80", "", saxpy, three), with("compute_80", "7.8"), with("sm_80", "", "_Z2kdPi"), with("compute_80", "7.8")},
		},
		"11.8-cubin": {only("sm_80"), []Image{with("", "", saxpy, three)}},
		"11.8-lto":   {nil, only("lto_80")},
		"13.0-rdc": {
			only("sm_90", "sm_90", "compute_90", "sm_90", "compute_90"),
			[]Image{with("sm_90", "", "_Z2kdPi", "_Z2kmPi"), with("sm_90", "", "_Z2kdPi"), with("compute_90", "9.0"), with("sm_90", "", "_Z2kmPi"), with("compute_90", "9.0")},
		},
		"13.0-archive": {
			only("sm_90", "compute_90", "sm_90", "compute_90"),
			[]Image{with("sm_90", "", saxpy, three), with("compute_90", "9.0"), with("sm_90", "", "_Z2kdPi"), with("compute_90", "9.0")},
		},
		"13.0-cubin": {only("sm_90a"), []Image{with("", "", saxpy, three)}},
		"13.0-lto":   {nil, only("lto_90")},
		// The list of files calls family cubins plain ones, the list of
		// symbols does not.
		"13.0-families": {
			only("sm_90", "compute_90", "sm_90a", "compute_90a", "sm_100", "compute_100f", "sm_121", "compute_121f"),
			[]Image{
				with("sm_90", "", saxpy, three), with("compute_90", "9.0"), with("sm_90a", "", saxpy, three), with("compute_90a", "9.0"),
				with("sm_100f", "", axpy, four), with("compute_100f", "9.0"), with("sm_121f", "", axpy, four), with("compute_121f", "9.0"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Reading{
				Files:   recorded(t, name+".files.txt", readFiles),
				Symbols: recorded(t, name+".symbols.txt", readSymbols),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func recorded(t *testing.T, name string, read func(io.Reader) ([]Image, error)) []Image {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	images, err := read(f)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

func TestReadFilesNames(t *testing.T) {
	// 11.8 puts dashes for blanks in the first name, and cuts the others.
	got, err := readFiles(strings.NewReader("ELF file    1: a-b.sm_70-x.1.sm_80.cubin\nPTX file  100: a.1.sm_80.ptx\n"))
	if want := []Image{image(t, "sm_80", ""), image(t, "compute_80", "")}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestReadErrors(t *testing.T) {
	const head = "Fatbin elf code:\n================\n"
	for _, c := range []struct {
		read       func(io.Reader) ([]Image, error)
		text, want string
	}{
		{readFiles, "PTX\n", `line 1: unknown text "PTX"`},
		{readFiles, "\nELF file    1: x.1.sm_90\n", `line 2: unknown text "ELF file    1: x.1.sm_90"`},
		{readFiles, "ELF file 1: .cubin\n", `target "ELF file 1: "`},
		{readFiles, "ELF file 1: x.1.sm_9.cubin\n", `target "sm_9"`},
		{readFiles, strings.Repeat("x", maxLine+1), "after line 0: bufio.Scanner: token too long"},
		{readSymbols, "arch = sm_90\n", `line 1: unknown text "arch = sm_90"`},
		{readSymbols, head + "arch = sm_ninety\n", `line 3: target "sm_ninety"`},
		{readSymbols, head + "symbols:\n", "at the end: an image of kind cubin without a target"},
		{readSymbols, head + head, "line 3: an image of kind cubin without a target"},
		{readSymbols, head + "arch = sm_90\nsymbols:\nFUNC x\n", `line 5: unknown symbol "FUNC x"`},
		{readSymbols, head + "arch = sm_90\nsymbols:\nSTT_FUNC STB_GLOBAL STO_ENTRY\n", "line 5: entry function"},
		{readSymbols, "Fatbin ptx code:\narch = sm_90\ncode version = 9.0\n", `line 3: PTX version "9.0"`},
	} {
		if images, err := c.read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, %v; want an error with %q", c.text, images, err, c.want)
		}
	}
}

func TestReadSymbolsOfUnknownKind(t *testing.T) {
	got, err := readSymbols(strings.NewReader("Fatbin tile code:\n=====\narch = sm_100\n\nFatbin ptx code:\narch = sm_100\ncode version = [9,3]\n"))
	if want := []Image{{Kind: "tile"}, image(t, "compute_100", "9.3")}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func FuzzReadFiles(f *testing.F)   { fuzz(f, ".files.txt", readFiles) }
func FuzzReadSymbols(f *testing.F) { fuzz(f, ".symbols.txt", readSymbols) }

// fuzz wants an error, or images that each took a line and have a target where
// their kind has one.
func fuzz(f *testing.F, suffix string, read func(io.Reader) ([]Image, error)) {
	seeds, err := filepath.Glob("testdata/*" + suffix)
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, seed := range seeds {
		text, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		images, err := read(strings.NewReader(text))
		if err != nil && images != nil {
			t.Errorf("both images and the error %v", err)
		}
		if len(images) > strings.Count(text, "\n")+1 {
			t.Errorf("%d images from %d lines", len(images), strings.Count(text, "\n")+1)
		}
		for _, i := range images {
			if i.Target.Class != classes[i.Kind] && i.Target != (arch.Target{}) {
				t.Errorf("kind %s with target %s", i.Kind, i.Target)
			}
		}
	})
}
