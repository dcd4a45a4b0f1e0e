package judge

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every finding is documented under its ID, with its title and effect.
func TestFindingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{} // "CP104 Native image missing" to the first words below it
	for section := range strings.SplitSeq(string(text), "\n### ") {
		if head, body, ok := strings.Cut(section, "\n"); ok && strings.HasPrefix(head, "CP") {
			documented[head], _, _ = strings.Cut(body, ".")
		}
	}
	catalogued := map[string]string{}
	for id, kind := range Catalogue() {
		effect := string(kind.Effect)
		if effect == "" {
			effect = string(kind.Severity)
		}
		catalogued[id+" "+kind.Title] = effect
	}
	if !maps.Equal(documented, catalogued) {
		t.Errorf("docs/findings.md says %v\nthe catalogue has  %v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(catalogued)))
		for k, v := range catalogued {
			if documented[k] != v {
				t.Errorf("%s: documented as %q, catalogued as %q", k, documented[k], v)
			}
		}
	}
}
