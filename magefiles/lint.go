//go:build mage

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// staticcheck is run by version and not kept in go.mod, where it would become
// a module of every consumer's graph.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// Lint checks formatting, vet, staticcheck, go.mod, and the build for arm64.
func Lint(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "gofmt", "-l", ".").Output()
	if err != nil {
		return fmt.Errorf("gofmt: %w", err)
	}
	if len(out) > 0 {
		return fmt.Errorf("not formatted (run gofmt -w):\n%s", out)
	}
	for _, args := range [][]string{
		{"mod", "tidy", "-diff"},
		{"vet", "./..."},
		{"vet", "-tags=mage", "./magefiles", "./magefiles/standalone"},
		{"run", staticcheck, "./..."},
	} {
		if err := goCommand(ctx, nil, args...); err != nil {
			return err
		}
	}
	return goCommand(ctx, []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, "build", "./...")
}

// goCommand runs go with its output shown.
func goCommand(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
