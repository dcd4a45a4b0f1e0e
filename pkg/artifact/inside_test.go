package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	digest "github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive/archivetest"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// inner is a file to be packed.
type inner struct {
	name    string
	content []byte
}

func zipped(files ...inner) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		archivetest.Must(archivetest.Must(w.Create(f.name)).Write(f.content))
	}
	archivetest.Close(w)
	return b.Bytes()
}

func tarred(files ...inner) []byte {
	var headers []tar.Header
	var contents []string
	for _, f := range files {
		headers = append(headers, tar.Header{Name: f.name, Typeflag: tar.TypeReg, Size: int64(len(f.content))})
		contents = append(contents, string(f.content))
	}
	return archivetest.Tar(headers, contents...)
}

// layout gives the files of an image layout with one image of one layer.
func layout(layer []byte) []inner {
	var files []inner
	add := func(mediaType string, b []byte) spec.Descriptor {
		d := digest.FromBytes(b)
		files = append(files, inner{"blobs/sha256/" + d.Encoded(), b})
		return spec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(b))}
	}
	m := spec.Manifest{
		Config: add(spec.MediaTypeImageConfig, archivetest.Must(json.Marshal(spec.Image{Platform: spec.Platform{OS: "linux", Architecture: "amd64"}}))),
		Layers: []spec.Descriptor{add(spec.MediaTypeImageLayerGzip, archivetest.Gzip(layer))},
	}
	index := spec.Index{Manifests: []spec.Descriptor{add(spec.MediaTypeImageManifest, archivetest.Must(json.Marshal(m)))}}
	return append(files, inner{"index.json", archivetest.Must(json.Marshal(index))}, inner{"oci-layout", []byte(`{"imageLayoutVersion": "1.0.0"}`)})
}

const (
	readCubin = "cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()"
	readPTX   = "ptx compute_80 ISA 7.8 lz4 nine() seven()"
)

// wheel holds a library, an archive, a cubin and files that are none.
func wheel(t testing.TB) []byte {
	return zipped(
		inner{"pkg/__init__.py", []byte("print('.version 7.0')")},
		inner{"pkg/lib.so", fixture(t, "cuda-11.8/c19_default.so")},
		inner{"pkg/t.a", fixture(t, "cuda-11.8/c13_archive.a")},
		inner{"pkg/k.cubin", fixture(t, "cuda-11.8/sm90.cubin")},
	)
}

func inWheel(prefix string) []string {
	return []string{
		prefix + "pkg/lib.so .nv_fatbin whole-program: " + readCubin,
		prefix + "pkg/lib.so .nv_fatbin whole-program: " + readPTX,
		prefix + "pkg/t.a!short.o .nv_fatbin whole-program: " + readCubin,
		prefix + "pkg/t.a!a_name_of_more_than_15.o .nv_fatbin whole-program: cubin sm_90 from compute_90 ABI 7 by 11.8 never_launched()",
		prefix + "pkg/k.cubin  file: cubin sm_90 from compute_90 ABI 7 by 11.8 nine() seven()",
	}
}

func TestInside(t *testing.T) {
	whl := wheel(t)
	image := tarred(layout(tarred(inner{"app/x.whl", whl}, inner{"etc/hosts", []byte("localhost")}))...)
	for _, test := range []struct {
		name   string
		bytes  []byte
		format Format
		prefix string
		others int
	}{
		{"wheel", whl, "zip", "", 1},
		{"npm tarball", archivetest.Gzip(tarred(inner{"package/x.zip", whl})), "gzip", "package/x.zip!", 1},
		{"wheel in a zip in a tar", tarred(inner{"a", zipped(inner{"x.whl", whl})}), "tar", "a!x.whl!", 1},
		{"OCI archive", image, ContainerImage, "app/x.whl!", 2},
		{"OCI archive, compressed", archivetest.Gzip(image), ContainerImage, "app/x.whl!", 2},
		{"OCI archive in a zip", zipped(inner{"image.tar", image}), "zip", "image.tar!app/x.whl!", 2},
	} {
		f := readString(t, string(test.bytes))
		if f.Format != test.format || f.Others != test.others || f.Problem != "" {
			t.Errorf("%s: format %q, %d others, problem %q; want %q, %d", test.name, f.Format, f.Others, f.Problem, test.format, test.others)
		}
		if diff := cmp.Diff(inWheel(test.prefix), describe(f)); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, diff)
		}
	}
}

// TestInsideObject has what is told of each file in an archive.
func TestInsideObject(t *testing.T) {
	o := readString(t, string(wheel(t))).Objects[0]
	alone := open(t, "cuda-11.8/c19_default.so")
	want := Object{
		Name: "pkg/lib.so", Format: SharedLibrary, SHA256: alone.SHA256, Size: alone.Size,
		Host: alone.Objects[0].Host, Dynamic: alone.Objects[0].Dynamic,
	}
	o.Code = devicecode.Code{}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestLayout reads the folder of an image layout, which a link leads out of.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	for _, f := range layout(tarred(inner{"app/x.whl", wheel(t)})) {
		path := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir, devicecode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inWheel("app/x.whl!"), describe(f)); diff != "" || f.Format != ContainerImage {
		t.Errorf("format %s; want -, got +:\n%s", f.Format, diff)
	}
	if sum, _, err := HashFile(dir); err != nil || sum != f.SHA256 {
		t.Errorf("hash %s, %v, want %s", sum, err, f.SHA256)
	}

	blobs := filepath.Join(dir, "blobs", "sha256")
	outside := t.TempDir()
	if err := os.Rename(blobs, filepath.Join(outside, "sha256")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "sha256"), blobs); err != nil {
		t.Fatal(err)
	}
	f, err = Open(dir, devicecode.Options{})
	if err != nil || len(f.Objects) > 0 || !strings.Contains(f.Problem, "path escapes from parent") {
		t.Errorf("through a link: %v, problem %q, %d objects", err, f.Problem, len(f.Objects))
	}
}

// TestInsideProblems has one damaged file among good ones, and archives that are
// damaged themselves.
func TestInsideProblems(t *testing.T) {
	lib := fixture(t, "cuda-11.8/c19_default.so")
	deep := lib
	for range maxDepth + 1 {
		deep = archivetest.Gzip(tarred(inner{"x", deep}))
	}
	for _, test := range []struct {
		name  string
		bytes []byte
		want  []string
	}{
		{"damaged library", zipped(inner{"a.so", lib[:5000]}, inner{"b.so", lib}), []string{"damaged ELF file"}},
		{"name that promises", zipped(inner{"a.cubin", []byte("none")}), []string{"neither ELF"}},
		{"damaged wheel in a tar", tarred(inner{"x.whl", wheel(t)[:3000]}), []string{"not a valid zip file"}},
		{"damaged static library", zipped(inner{"x.a", fixture(t, "cuda-11.8/c13_archive.a")[:500]}), []string{"damaged static library"}},
		{"depth", deep, []string{"more than 4 archives one in another"}},
		{"absolute", tarred(inner{"/a.so", lib}), []string{"is absolute"}},
	} {
		got := problems(readString(t, string(test.bytes)))
		if len(got) != len(test.want) || !strings.Contains(got[0], test.want[0]) {
			t.Errorf("%s: problems %q, want %q", test.name, got, test.want)
		}
	}
}

// TestTruncatedArchive cuts archives at every byte: what is left has a problem
// or is complete.
func TestTruncatedArchive(t *testing.T) {
	files := []inner{{"a.so", fixture(t, "cuda-11.8/c29_variables80.so")}, {"b.cubin", fixture(t, "cuda-11.8/sm90.cubin")}}
	for name, b := range map[string][]byte{
		"zip": zipped(files...), "tgz": archivetest.Gzip(tarred(files...)), "image": tarred(layout(tarred(files...))...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := describe(readString(t, string(b)))
			for n := range len(b) {
				f := readString(t, string(b[:n]))
				if len(problems(f)) == 0 && !slices.Equal(describe(f), whole) {
					t.Fatalf("cut to %d of %d bytes it reads without a problem as %q", n, len(b), describe(f))
				}
			}
		})
	}
}
