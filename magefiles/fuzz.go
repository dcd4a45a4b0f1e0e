//go:build mage

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Fuzz runs every fuzz target for a while.
func Fuzz(ctx context.Context,
	each *time.Duration, // how long each target runs (default 30s)
) error {
	limit := 30 * time.Second
	if each != nil {
		limit = *each
	}
	out, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		names, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", pkg).Output()
		if err != nil {
			return fmt.Errorf("go test -list %s: %w", pkg, err)
		}
		for name := range strings.FieldsSeq(string(names)) {
			if !strings.HasPrefix(name, "Fuzz") {
				continue
			}
			// Minimising an input of the size of a library would take all the time.
			err := goCommand(ctx, nil, "test", "-run=^$", "-fuzz=^"+name+"$",
				"-fuzztime="+limit.String(), "-fuzzminimizetime=50x", pkg)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
