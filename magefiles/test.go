//go:build mage

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Test runs every test, with the race detector where a C compiler is at hand, and lists what was skipped.
func Test(ctx context.Context) error {
	args := []string{"test", "-json"}
	if why := noRace(ctx); why == "" {
		args = append(args, "-race")
	} else if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
		return fmt.Errorf("the race detector is required here: %s", why)
	} else {
		fmt.Println("Without the race detector:", why)
	}
	skipped, err := goTest(ctx, append(args, "./..."))
	if len(skipped) > 0 {
		fmt.Printf("\n%d tests were skipped:\n", len(skipped))
		for _, s := range skipped {
			fmt.Println("  " + s)
		}
	}
	return err
}

// noRace says why the race detector cannot be used, "" where it can.
func noRace(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil {
		return "go env: " + err.Error()
	}
	cgo, cc, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if cgo != "1" {
		return "cgo is disabled"
	}
	if _, err := exec.LookPath(strings.Fields(cc + " cc")[0]); err != nil {
		return "there is no C compiler: " + err.Error()
	}
	return ""
}

// testEvent is one line of `go test -json` (cmd/test2json).
type testEvent struct {
	Action, Package, Test, Output string
}

// goTest runs go test, prints its package lines and the output of failed tests,
// and gives the skipped tests with their reasons.
func goTest(ctx context.Context, args []string) (skipped []string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	output := map[string][]string{}
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e testEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // a build error
			continue
		}
		key := e.Package + "." + e.Test
		switch e.Action {
		case "output", "build-output":
			if e.Test == "" && e.Output != "PASS\n" {
				fmt.Print(e.Output)
			}
			output[key] = append(output[key], e.Output)
		case "fail":
			if e.Test != "" {
				fmt.Print(strings.Join(output[key], ""))
			}
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, e.Test+": "+reason(output[key]))
			}
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(output, key)
		}
	}
	return skipped, errors.Join(lines.Err(), cmd.Wait())
}

// reason picks the text of t.Skip out of a test's output.
func reason(output []string) string {
	for _, line := range output {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), ".go:"); ok {
			_, text, _ = strings.Cut(text, ": ")
			return text
		}
	}
	return "no reason given"
}
