package arch

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/compatibility.md shows the tables as they are.
func TestTablesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range Releases {
		branch := "not known"
		if r.Branch != 0 {
			branch = fmt.Sprint(r.Branch)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |", r.CUDA, r.PTX, branch, r.Driver, r.Targets))
	}
	for _, c := range Known() {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", c, c.Products(), cmp.Or(FloorOfDevice(c), "any"), CeilingOfDevice(c)))
	}
	if !strings.Contains(string(doc), strings.Join(rows[:len(Releases)], "\n")+"\n\n") || !strings.Contains(string(doc), strings.Join(rows[len(Releases):], "\n")+"\n\n") {
		t.Errorf("docs/compatibility.md does not show:\n%s", strings.Join(rows, "\n"))
	}
}
