package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/verify"
)

// repeatedFlag refuses a flag given twice to one target: mage would silently
// keep the last value, and the first file would go unseen.
func repeatedFlag(args []string) error {
	seen := map[string]string{}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			clear(seen) // the next target
			continue
		}
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(arg, "-")), "=")
		if first, again := seen[name]; again {
			return &verify.ExitError{
				Code: verify.ExitManifest,
				Text: fmt.Sprintf("cudaproof: %s and %s: a flag can be given once; -path takes a glob", first, arg),
			}
		}
		seen[name] = arg
	}
	return nil
}

// emptyFlag refuses a flag without a value, such as -manifest=$UNSET gives: it
// must not fall back to the default in silence.
func emptyFlag(flags map[string]*string) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if v := flags[name]; v != nil && *v == "" {
			return &verify.ExitError{Code: verify.ExitManifest, Text: fmt.Sprintf("cudaproof: -%s= has no value", name)}
		}
	}
	return nil
}
