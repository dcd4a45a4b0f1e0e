// Package verify puts the stages together. The Mage targets call it, and so
// can the magefile of a project that wants more than they offer.
package verify

import (
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/report"
)

// The exit codes. 1 and 2 are mage's own.
const (
	ExitPassed      = 0
	ExitFailed      = 3
	ExitManifest    = 4
	ExitNotVerified = 5
)

// ExitError ends a target with an exit code of its own.
type ExitError struct {
	Code int
	Text string
}

// Error gives the text, safe to print: it may hold names of files.
func (e *ExitError) Error() string { return report.Plain(e.Text) }

// exit turns a verdict into the error that ends the target, nil for a pass.
func exit(v judge.Verdict) error {
	switch v {
	case judge.Passed:
		return nil
	case judge.Failed:
		return &ExitError{ExitFailed, "cudaproof: failed"}
	}
	return &ExitError{ExitNotVerified, "cudaproof: not verified"}
}

// notVerified ends a target that could not do its work.
func notVerified(format string, args ...any) error {
	return &ExitError{ExitNotVerified, "cudaproof: not verified: " + fmt.Sprintf(format, args...)}
}
