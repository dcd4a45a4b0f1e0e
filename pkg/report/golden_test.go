package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/manifest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reports what was recorded on an H200 (testdata/h200/README.md).
func TestGolden(t *testing.T) {
	const recorded = "../../testdata/h200/"
	manifests, err := filepath.Glob(recorded + "*.yaml")
	if err != nil || len(manifests) < 12 {
		t.Fatalf("found %d manifests, %v", len(manifests), err)
	}
	for _, path := range manifests {
		name := filepath.Base(path[:len(path)-len(".yaml")])
		t.Run(name, func(t *testing.T) {
			m, err := manifest.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			newest, err := bundle.Newest(filepath.Join(recorded, "evidence", name))
			if err != nil {
				t.Fatal(err)
			}
			r, err := bundle.Read(newest)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := Text(&got, r, judge.Judge(m, r), Options{Matrix: judge.Matrix(m, r)}); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("run with -update where this is right (-want +got):\n%s", diff)
			}
		})
	}
}
