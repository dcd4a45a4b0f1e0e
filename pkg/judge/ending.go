package judge

import (
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// Ended says in a few words how the program of a run ended.
func Ended(run record.Run) string {
	switch {
	case run.NotStarted != "":
		return "not started: " + run.NotStarted
	case run.Exit.TimedOut:
		return "killed after its timeout"
	case run.Exit.Signal != "" && run.Exit.CoreDumped:
		return "died by " + run.Exit.Signal + " with a core dump"
	case run.Exit.Signal != "":
		return "died by " + run.Exit.Signal
	}
	return fmt.Sprintf("exit code %d", run.Exit.Code)
}

// ending says how a run ended, which expectations it missed, and what the
// driver said, refusals of device code before others.
func ending(run record.Run) string {
	words := []string{Ended(run)}
	for _, c := range run.Checks {
		if !c.OK && c.What != "exit code" {
			words = append(words, fmt.Sprintf("%s: want %s, got %s", c.What, c.Want, c.Got))
		}
	}
	if e, refused := firstError(run, refusals); refused {
		words = append(words, returned(e))
	} else if len(run.DriverErrors) > 0 {
		words = append(words, returned(run.DriverErrors[0]))
	}
	return strings.Join(words, "; ")
}
