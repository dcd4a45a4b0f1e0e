package judge

import (
	"testing"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// C07: PTX that ptxas refuses.
func TestC07Assembled(t *testing.T) {
	j := record.Assembly{PTX: target(t, "compute_80"), Target: target(t, "sm_90")}
	for _, test := range []struct {
		name   string
		change func(*record.Assembly)
		want   []string
	}{
		{"taken", func(j *record.Assembly) { j.OK = true }, nil},
		{"refused", func(j *record.Assembly) {
			j.Output, j.Kernel = "line 10; error   : Feature 'mapa' requires .target sm_90 or higher", "k"
		}, []string{"CP122"}},
		{"not asked", func(j *record.Assembly) { j.NotDone = "ptxas 11.8 does not know sm_121" }, []string{"CP124"}},
		{"an answer without a word", func(*record.Assembly) {}, []string{"CP122"}},
	} {
		j := j
		test.change(&j)
		equal(t, test.name, ids(assembledFindings(record.Artifact{Assembled: []record.Assembly{j}})), test.want)
	}
}
