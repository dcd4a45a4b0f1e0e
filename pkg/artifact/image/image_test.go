package image

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
	"github.com/cudaproof/cudaproof/pkg/artifact/archive/archivetest"
)

func walk(t testing.TB, get Files) (files []string, w *archive.Walker) {
	t.Helper()
	w = &archive.Walker{
		Budget: archive.NewBudget(0),
		Want:   func(string, []byte) bool { return true },
		Visit:  func(name string, content []byte) { files = append(files, name+"="+string(content)) },
	}
	if !Is(get) {
		t.Error("it is not told to be an image")
	}
	Walk(get, w)
	slices.Sort(files)
	return files, w
}

// TestFlatten has layers, the lowest first, and what a container sees.
func TestFlatten(t *testing.T) {
	for _, test := range []struct {
		name   string
		layers [][]byte
		want   []string
	}{
		{"one layer", [][]byte{layerOf("a/", "a/x=1", "y=2")}, []string{"a/x=1", "y=2"}},
		{"replaced", [][]byte{layerOf("a/x=1"), layerOf("a/x=2"), layerOf("b=3")}, []string{"a/x=2", "b=3"}},
		{"whiteout", [][]byte{layerOf("a/x=1", "a/y=1"), layerOf("a/.wh.x=")}, []string{"a/y=1"}},
		{"whiteout of a folder", [][]byte{layerOf("a/b/x=1", "a/c=1"), layerOf("a/.wh.b=")}, []string{"a/c=1"}},
		{"whiteout and again", [][]byte{layerOf("a/x=1"), layerOf("a/.wh.x="), layerOf("a/x=3")}, []string{"a/x=3"}},
		{"whiteout in the layer of the file", [][]byte{layerOf("a/x=1"), layerOf("a/x=2", "a/.wh.x=")}, []string{"a/x=2"}},
		{"whiteout above only", [][]byte{layerOf("a/.wh.x="), layerOf("a/x=2")}, []string{"a/x=2"}},
		{"opaque", [][]byte{layerOf("a/x=1", "a/b/y=1", "c=1"), layerOf("a/.wh..wh..opq=", "a/z=2")}, []string{"a/z=2", "c=1"}},
		{"opaque root", [][]byte{layerOf("x=1", "a/y=1"), layerOf(".wh..wh..opq=", "z=2")}, []string{"z=2"}},
		{"file over folder", [][]byte{layerOf("a/", "a/x=1"), layerOf("a=2")}, []string{"a=2"}},
		{"folder over file", [][]byte{layerOf("a=1"), layerOf("a/", "a/x=2")}, []string{"a/x=2"}},
		{"folder over folder", [][]byte{layerOf("a/", "a/x=1"), layerOf("a/", "a/y=2")}, []string{"a/x=1", "a/y=2"}},
		{"symbolic link over folder", [][]byte{layerOf("a/x=1", "b/x=1"), layerOf("a->b")}, []string{"b/x=1"}},
		{"leading dots", [][]byte{layerOf("./a/x=1"), layerOf("./a/.wh.x=", "./b=2")}, []string{"b=2"}},
		{"hard link", [][]byte{layerOf("a=1", "b=>a")}, []string{"a=1"}},
		{"hard link to a name that is hidden", [][]byte{layerOf("a=1", "b=>a"), layerOf(".wh.a=")}, []string{"b=1"}},
		{"hard link to a replaced name", [][]byte{layerOf("a=1", "b=>a"), layerOf("a=2")}, []string{"a=2", "b=1"}},
		{"hard link into a lower layer", [][]byte{layerOf("a=1"), layerOf("b=>a"), layerOf(".wh.a=")}, []string{"b=1"}},
		{"empty layer", [][]byte{layerOf("a=1"), make([]byte, 1024), make([]byte, 1024), make([]byte, 1024)}, []string{"a=1"}},
	} {
		s := store{}
		s.layout(s.image("amd64", test.layers...))
		forms := map[string]Files{"layout": s.get, "docker": dockerSaved(test.layers...).get}
		for name, files := range map[string]store{"archive": s, "docker archive": dockerSaved(test.layers...)} {
			get, err := FromTar(files.tar(), &archive.Walker{Budget: archive.NewBudget(0)})
			if err != nil {
				t.Fatal(err)
			}
			forms[name] = get
		}
		for form, get := range forms {
			got, w := walk(t, get)
			if diff := cmp.Diff(test.want, got); diff != "" || len(w.Problems) > 0 {
				t.Errorf("%s, %s: problems %v; want -, got +:\n%s", test.name, form, w.Problems, diff)
			}
		}
	}
}

func TestPlatforms(t *testing.T) {
	s := store{}
	attestation := s.image("unknown", layerOf("not a file=0"))
	attestation.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	arm := s.image("arm64", layerOf("x=arm"))
	arm.Platform = &spec.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}
	inner := s.json(spec.MediaTypeImageIndex, spec.Index{Manifests: []spec.Descriptor{s.image("amd64", layerOf("x=amd")), arm, attestation}})
	got, w := walk(t, s.layout(inner).get)
	if want := []string{"linux/amd64!x=amd", "linux/arm64/v8!x=arm"}; !slices.Equal(got, want) || len(w.Problems) > 0 {
		t.Errorf("%q, problems %v, want %q", got, w.Problems, want)
	}
}

func TestProblems(t *testing.T) {
	layer := layerOf("x=1")
	name := "blobs/sha256/" + (store{}).add("", layer).Digest.Encoded()
	for _, test := range []struct {
		name   string
		change func(s store) store
		want   string
		files  int
	}{
		{"missing layer", func(s store) store { delete(s, name); return s }, "is missing", 1},
		{"damaged layer", func(s store) store { s[name] = bytes.Replace(layer, []byte("1"), []byte("2"), 1); return s }, "is damaged", 1},
		{"short layer", func(s store) store { s[name] = layer[:600]; return s }, "has 600 bytes, its descriptor says", 1},
		{"index", func(s store) store { s["index.json"] = []byte("{"); return s }, "index.json:", 0},
		{"no index", func(s store) store { delete(s, "index.json"); return s }, "index.json", 0},
		{"no image", func(s store) store { return store{}.layout() }, "no image", 0},
		{"another type", func(s store) store { return s.layout(s.add("text/plain", []byte("x"))) }, `type "text/plain"`, 0},
		{"foreign layer", func(s store) store {
			return s.layout(s.json(spec.MediaTypeImageManifest, spec.Manifest{
				Config: s.json("", spec.Image{}), Layers: []spec.Descriptor{s.add("application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", archivetest.Gzip(layer))}}))
		}, "is not read", 0},
		{"digest", func(s store) store { return s.layout(spec.Descriptor{Digest: "sha256:../../x"}) }, `digest "sha256:../../x"`, 0},
		{"link to nothing", func(s store) store { return s.layout(s.image("amd64", layerOf("b=>a"), layerOf(".wh.a="))) }, "which is in no layer", 0},
		{"layer cut off", func(s store) store { return s.layout(s.image("amd64", layer[:1024])) }, "without an end marker", 1},
		{"indexes without end", func(s store) store {
			d := s.json(spec.MediaTypeImageIndex, spec.Index{})
			for range maxDepth + 1 {
				d = s.json(spec.MediaTypeImageIndex, spec.Index{Manifests: []spec.Descriptor{d}})
			}
			return s.layout(d)
		}, "more than 4 image indexes", 0},
	} {
		s := store{}
		got, w := walk(t, test.change(s.layout(s.image("amd64", layer, layerOf("y=1")))).get)
		if len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Text, test.want) || len(got) != test.files {
			t.Errorf("%s: files %q, problems %v, want %d and %q", test.name, got, w.Problems, test.files, test.want)
		}
	}
}

func TestDockerProblems(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s store, i *dockerImage)
		want   string
	}{
		{"damaged layer", func(s store, i *dockerImage) { s[i.Layers[0]] = layerOf("x=2") }, "is damaged"},
		{"missing layer", func(s store, i *dockerImage) { delete(s, i.Layers[0]) }, "file does not exist"},
		{"missing configuration", func(s store, i *dockerImage) { delete(s, i.Config) }, "configuration"},
		{"layers", func(s store, i *dockerImage) { i.Layers = append(i.Layers, i.Layers[0]) }, "names 2 layers, the configuration has 1"},
	} {
		s := dockerSaved(layerOf("x=1"))
		var images []dockerImage
		if err := json.Unmarshal(s["manifest.json"], &images); err != nil {
			t.Fatal(err)
		}
		test.change(s, &images[0])
		s["manifest.json"] = archivetest.Must(json.Marshal(images))
		if _, w := walk(t, s.get); len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", test.name, w.Problems, test.want)
		}
	}
}

// TestTruncation cuts an archive of an image at every byte: what is left has a
// problem or is complete.
func TestTruncation(t *testing.T) {
	s := store{}
	b := s.layout(s.image("amd64", layerOf("x=1", "a/.wh.y="))).tar()
	for n := range len(b) {
		w := &archive.Walker{Budget: archive.NewBudget(0)}
		get, err := FromTar(b[:n], w)
		if err != nil || len(w.Problems) > 0 || !Is(get) {
			continue // told already
		}
		if got, w := walk(t, get); len(w.Problems) == 0 && !slices.Equal(got, []string{"x=1"}) {
			t.Fatalf("cut to %d of %d bytes: %q", n, len(b), got)
		}
	}
}

// FuzzWalk wants files or a problem of any tar that claims to be an image.
func FuzzWalk(f *testing.F) {
	s := store{}
	f.Add(s.layout(s.image("amd64", layerOf("a/x=1", "b=>a/x"), layerOf("a/.wh.x="))).tar())
	f.Add(dockerSaved(layerOf("x=1"), layerOf(".wh..wh..opq=")).tar())
	f.Fuzz(func(t *testing.T, b []byte) {
		in := &archive.Walker{Budget: &archive.Budget{Bytes: 16 << 20, Files: 1000}}
		get, err := FromTar(b, in)
		if err != nil || !Is(get) {
			return
		}
		w := &archive.Walker{Budget: in.Budget, Want: func(string, []byte) bool { return true }, Visit: func(string, []byte) {}}
		Walk(get, w) // only panics are of interest: an image may be without files
	})
}
