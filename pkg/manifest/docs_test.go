package manifest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reference names every key that the decoder knows, and no other.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "manifest.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(documented)
	if diff := cmp.Diff(knownKeys(t), documented); diff != "" {
		t.Errorf("decoder (-) and docs/manifest.md (+) differ:\n%s", diff)
	}
}

// knownKeys makes every mapping of the manifest complain of an unknown key, and
// collects the keys that it says it expected.
func knownKeys(t *testing.T) (keys []string) {
	t.Helper()
	const everyMapping = `{version: 1, zzzzzzzz: 1,
toolkit: {zzzzzzzz: 1}, require: {zzzzzzzz: 1, min_driver: {zzzzzzzz: 1}}, build: [{zzzzzzzz: 1, gencode: [{zzzzzzzz: 1}]}],
artifacts: [{zzzzzzzz: 1, kernels: {zzzzzzzz: 1, require: [{zzzzzzzz: 1}], without: [{zzzzzzzz: 1}]}}], third_party: [{zzzzzzzz: 1}],
entry_points: [{zzzzzzzz: 1, devices: {zzzzzzzz: 1}, expect: {zzzzzzzz: 1, stdout: [{zzzzzzzz: 1}], same_across_modes: [{zzzzzzzz: 1}], files: {o: {zzzzzzzz: 1}}}}], evidence: {zzzzzzzz: 1}}`
	unknown := regexp.MustCompile(`: (\S+|the manifest): unknown key "zzzzzzzz": expected one of (.*)$`)
	for _, line := range mistakes(t, everyMapping) {
		m := unknown.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		prefix := m[1] + "."
		if m[1] == "the manifest" {
			prefix = ""
		}
		for key := range strings.SplitSeq(m[2], ", ") {
			keys = append(keys, prefix+key)
		}
	}
	if len(keys) < 40 {
		t.Fatalf("found %d keys only: %q", len(keys), keys)
	}
	slices.Sort(keys)
	return keys
}
