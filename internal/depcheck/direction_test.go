package depcheck

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cudaproof/cudaproof/"

// allowed says which packages of the module each part may import; a part stands
// for itself and everything below it.
var allowed = map[string][]string{
	"pkg/devicecode": {"pkg/devicecode"},
	"pkg/artifact":   {"pkg/artifact", "pkg/devicecode"},
	"pkg/linkage":    {"pkg/linkage", "pkg/devicecode"},
	"pkg/record":     {"pkg/record", "pkg/coverage", "pkg/artifact", "pkg/devicecode", "pkg/linkage"},
	"pkg/manifest":   {"pkg/manifest", "pkg/devicecode"},
	"cuda_src":       {},
	"pkg/stage":      {"pkg/stage", "pkg/coverage", "pkg/artifact", "pkg/devicecode", "pkg/linkage", "pkg/manifest", "pkg/record", "cuda_src"},
	"pkg/coverage":   {"pkg/coverage", "pkg/artifact", "pkg/devicecode"},
	"pkg/nvcc":       {"pkg/nvcc", "pkg/devicecode"},
	"pkg/judge":      {"pkg/judge", "pkg/nvcc", "pkg/coverage", "pkg/artifact", "pkg/devicecode", "pkg/linkage", "pkg/manifest", "pkg/record"},
	"pkg/bundle":     {"pkg/bundle", "pkg/record"},
	"pkg/report":     {"pkg/report", "pkg/coverage", "pkg/artifact", "pkg/devicecode", "pkg/judge", "pkg/record"},
	"pkg/verify":     {"pkg"},
	"magefiles/cuda": {"pkg/verify"},
	"internal":       {"internal", "pkg"},
}

// keepers says which parts alone may import a package; a part stands for
// itself and everything below it.
var keepers = map[string][]string{
	"github.com/magefile/mage/mg":                      {"magefiles"},
	"github.com/sirupsen/logrus":                       {"pkg/verify", "magefiles"},
	"github.com/schollz/progressbar/v3":                {"pkg/verify"},
	"gopkg.in/yaml.v3":                                 {"pkg/manifest"},
	"github.com/ianlancetaylor/demangle":               {"pkg/devicecode"},
	"github.com/klauspost/compress/zstd":               {"pkg/devicecode", "pkg/artifact/archive"},
	"github.com/therootcompany/xz":                     {"pkg/artifact/archive"},
	"github.com/opencontainers/go-digest":              {"pkg/artifact/image"},
	"github.com/opencontainers/image-spec/specs-go/v1": {"pkg/artifact"},
	"github.com/go-json-experiment/json":               {"pkg/report"},
	"github.com/pierrec/lz4/v4":                        {"pkg/devicecode"},
	"os/exec":                                          {"pkg/stage", "magefiles"},
	"os":                                               {"pkg/artifact", "pkg/linkage", "pkg/manifest", "pkg/bundle", "pkg/stage", "pkg/verify", "magefiles"},
	"net":                                              {},
	"net/http":                                         {},
}

// imports gives the imports of every package, tests left out.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		found[strings.TrimPrefix(words[0], module)] = words[1:]
	}
	if len(found) < 15 {
		t.Fatalf("go list gave %d packages, expected the whole module", len(found))
	}
	return found
}

func within(pkg string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return pkg == part || strings.HasPrefix(pkg, part+"/") })
}

func TestDirection(t *testing.T) {
	for pkg, list := range imports(t) {
		part := ""
		for _, p := range slices.Sorted(maps.Keys(allowed)) {
			if within(pkg, []string{p}) {
				part = p
			}
		}
		if part == "" {
			t.Errorf("%s is in no part of the house: add it to the table and to docs/architecture.md", pkg)
			continue
		}
		for _, imported := range list {
			own, ours := strings.CutPrefix(imported, module)
			if ours && !within(own, allowed[part]) {
				t.Errorf("%s imports %s, against the direction: %s may import %v", pkg, own, part, allowed[part])
			}
			if who, kept := keepers[imported]; kept && !within(pkg, who) {
				t.Errorf("%s imports %s, which only %v may", pkg, imported, who)
			}
		}
	}
}

// TestConsumerModules caps what a project gets that imports the targets.
func TestConsumerModules(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./magefiles/cuda")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	if limit := 17; len(found) > limit {
		t.Errorf("magefiles/cuda pulls in %d modules, more than %d:\n%s", len(found), limit, strings.Join(found, "\n"))
	}
}
