//go:build mage

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/magefile/mage/mg"

	"github.com/cudaproof/cudaproof/pkg/verify"
)

// Demo inspects a prebuilt artifact, gates it against evidence recorded on an H200, and does the rest where this machine can.
func Demo(ctx context.Context) error {
	const quickstart = "examples/quickstart/"
	// One stream: headings and reports stay in order where they are piped.
	options := func(manifest string) verify.Options {
		return verify.Options{Manifest: manifest, Stderr: os.Stdout}
	}
	var undone []string
	for _, step := range []struct {
		title string
		// only what needs a toolkit and a GPU may stay undone
		mayStayUndone bool
		do            func() error
	}{
		{"1. What is in the prebuilt artifact? (mage inspect -path=" + quickstart + "prebuilt/quickstart)", false, func() error {
			return verify.Look(ctx, options(""), quickstart+"prebuilt/quickstart", verify.LookOptions{})
		}},
		{"2. Is it the file that was proven on an H200? (mage gate -manifest=" + quickstart + "prebuilt.yaml)", false, func() error {
			return verify.Gate(ctx, options(quickstart+"prebuilt.yaml"))
		}},
		{"3. Build, inspect and run it here (mage verify -manifest=" + quickstart + "cudaproof.yaml)", true, func() error {
			return verify.Verify(ctx, options(quickstart+"cudaproof.yaml"))
		}},
	} {
		fmt.Printf("\n%s\n%s\n\n", step.title, strings.Repeat("=", len(step.title)))
		err := step.do()
		if coded, ok := errors.AsType[*verify.ExitError](err); ok && coded.Code == verify.ExitNotVerified && step.mayStayUndone {
			undone = append(undone, step.title)
			continue
		}
		if coded, ok := errors.AsType[*verify.ExitError](err); ok {
			return mg.Fatal(coded.Code, coded.Error())
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("\nDemo: nothing failed.")
	for _, title := range undone {
		fmt.Println("Not verified on this machine:", title)
		fmt.Println("  The report above says which parts were done, and what is missing. `mage verify` itself exits with 5 for this.")
	}
	return nil
}
