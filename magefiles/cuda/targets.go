// Package cuda holds cudaproof's Mage targets, for import into a magefile:
//
//	// mage:import
//	_ "github.com/cudaproof/cudaproof/magefiles/cuda"
//
// With an alias (`// mage:import cuda`) they are cuda:verify and so on. The
// package holds targets only: every exported function here is one. What they do
// is in pkg/verify.
package cuda

import (
	"context"
	"errors"
	"os"

	"github.com/magefile/mage/mg"

	"github.com/cudaproof/cudaproof/pkg/verify"
)

// Verify proves a build: compiles, inspects, runs natively and through PTX JIT, keeps the evidence.
func Verify(ctx context.Context,
	manifest *string, // the manifest (default $CUDAPROOF_MANIFEST, then cudaproof.yaml)
	evidence *string, // folder for the evidence (default the manifest's)
	report *string, // folder for reports: text, JSON, JUnit, SARIF, Markdown, HTML
	json *bool, // also print JSON on standard output
) error {
	return run(reported(report, func(o verify.Options) error { return verify.Verify(ctx, o) }), manifest, evidence, json)
}

// Gate checks recorded evidence against the files on disk; needs no GPU and no toolkit.
func Gate(ctx context.Context,
	manifest *string, // the manifest (default $CUDAPROOF_MANIFEST, then cudaproof.yaml)
	evidence *string, // evidence folder, or one bundle in it (default the manifest's, newest bundle)
	report *string, // folder for reports: text, JSON, JUnit, SARIF, Markdown, HTML
	json *bool, // also print JSON on standard output
) error {
	return run(reported(report, func(o verify.Options) error { return verify.Gate(ctx, o) }), manifest, evidence, json)
}

// Probe shows host, driver, toolkit and devices.
func Probe(ctx context.Context,
	manifest *string, // the manifest, which may name nvcc
	json *bool, // also print JSON on standard output
) error {
	return run(func(o verify.Options) error { return verify.Probe(ctx, o) }, manifest, nil, json)
}

// Compile runs the manifest's builds with explicit -gencode.
func Compile(ctx context.Context,
	manifest *string, // the manifest (default $CUDAPROOF_MANIFEST, then cudaproof.yaml)
	json *bool, // also print JSON on standard output
) error {
	return run(func(o verify.Options) error { return verify.Compile(ctx, o) }, manifest, nil, json)
}

// Inspect reads the device code of the manifest's artifacts, or of any file with -path.
func Inspect(ctx context.Context,
	manifest *string, // the manifest (default $CUDAPROOF_MANIFEST, then cudaproof.yaml)
	path *string, // a file or glob to read instead, without a manifest; DIST.whl!**/*.so for files inside
	crosscheck *bool, // compare with cuobjdump
	kernels *bool, // with -path: list the kernels by name
	full *bool, // with -path and -json: the SHA-256 of every image after decoding
	devices *string, // with -path: what these devices take for each kernel, 8.6,9.0,12.1 or all
	driver *string, // with -devices: the driver they have, by CUDA version (12.4) or branch (550)
	json *bool, // print JSON on standard output
) error {
	return run(func(o verify.Options) error {
		if path != nil {
			if manifest != nil {
				return &verify.ExitError{Code: verify.ExitManifest, Text: "cudaproof: -path looks at files without a manifest: give -path or -manifest, not both"}
			}
			look := verify.LookOptions{CrossCheck: isSet(crosscheck), Kernels: isSet(kernels), Full: isSet(full)}
			if err := emptyFlag(map[string]*string{"devices": devices, "driver": driver}); err != nil {
				return err
			}
			if devices != nil {
				look.Devices = *devices
			}
			if driver != nil {
				look.Driver = *driver
			}
			return verify.Look(ctx, o, *path, look)
		}
		if devices != nil || driver != nil {
			return &verify.ExitError{Code: verify.ExitManifest, Text: "cudaproof: -devices and -driver go with -path; a manifest names them under require"}
		}
		return verify.Inspect(ctx, o, isSet(crosscheck))
	}, manifest, nil, json)
}

// Execute runs the manifest's entry points on what is built already.
func Execute(ctx context.Context,
	manifest *string, // the manifest (default $CUDAPROOF_MANIFEST, then cudaproof.yaml)
	json *bool, // also print JSON on standard output
) error {
	return run(func(o verify.Options) error { return verify.Execute(ctx, o) }, manifest, nil, json)
}

// run checks the flags, calls what a target does, and ends it as mage wants:
// mage takes an exit code from a bare mg.Fatal only.
func run(do func(verify.Options) error, manifest, evidence *string, json *bool) error {
	err := repeatedFlag(os.Args[1:])
	if err == nil {
		err = emptyFlag(map[string]*string{"manifest": manifest, "evidence": evidence})
	}
	if err == nil {
		err = do(verify.Options{Manifest: value(manifest), Evidence: value(evidence), JSON: isSet(json)})
	}
	if coded, ok := errors.AsType[*verify.ExitError](err); ok {
		return mg.Fatal(coded.Code, coded.Error())
	}
	return err
}

// reported puts the report folder among the options.
func reported(folder *string, do func(verify.Options) error) func(verify.Options) error {
	return func(o verify.Options) error {
		if err := emptyFlag(map[string]*string{"report": folder}); err != nil {
			return err
		}
		o.Reports = value(folder)
		return do(o)
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func isSet(b *bool) bool { return b != nil && *b }
