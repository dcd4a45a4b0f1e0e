package compile

import (
	"errors"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/probe"
)

// gencode gives what a build compiles for, its own or derived, after a check
// that the toolkit knows every target. nvcc's default is never used.
func (r *runner) gencode(b manifest.Build, done *record.Build) ([]manifest.Gencode, error) {
	list := b.Gencode
	if len(list) == 0 {
		list = deriveGencode(r.m.Require, r.probe.Devices)
	}
	if len(list) == 0 {
		return nil, errors.New("no targets: the build has no gencode, require names no target, and no device is visible; " +
			"add gencode to the build or native to require, or run where the device is")
	}
	asked := targets(list)
	done.Targets = embedded(list)
	done.MissingTargets = probe.MissingTargets(asked, r.probe.Toolkit.GPUCode)
	if len(done.MissingTargets) > 0 {
		return nil, failf("the toolkit does not list %s (asked for: %s; nvcc %s lists: %s), so nothing was compiled",
			strings.Join(done.MissingTargets, ", "), strings.Join(names(asked), " "),
			r.probe.Toolkit.Version, strings.Join(r.probe.Toolkit.GPUCode, " "))
	}
	return list, nil
}

// deriveGencode gives the targets of a build that names none: machine code and
// PTX for each target of require.native, each capability of require.devices
// and, where the manifest requires the devices present, each of those; and the
// PTX of require.ptx. Sorted, each once; empty when nothing names a target.
func deriveGencode(require manifest.Require, present []record.Device) []manifest.Gencode {
	native := slices.Clone(require.Native)
	for _, c := range require.Devices {
		native = append(native, c.Target(arch.SM))
	}
	if require.PresentDevices {
		for _, d := range present {
			native = append(native, d.Capability.Target(arch.SM))
		}
	}
	var list []manifest.Gencode
	for _, t := range sortTargets(native) {
		virtual := t.As(arch.Compute)
		list = append(list, manifest.Gencode{Arch: virtual, Code: []arch.Target{t, virtual}})
	}
	for _, t := range require.PTX {
		if !slices.ContainsFunc(list, func(g manifest.Gencode) bool { return g.Arch == t }) {
			list = append(list, manifest.Gencode{Arch: t, Code: []arch.Target{t}})
		}
	}
	slices.SortFunc(list, func(a, b manifest.Gencode) int { return arch.Compare(a.Arch, b.Arch) })
	return list
}

func sortTargets(list []arch.Target) []arch.Target {
	slices.SortFunc(list, arch.Compare)
	return slices.Compact(list)
}

// targets are all targets that a list names, the architectures that are only
// compiled from included.
func targets(list []manifest.Gencode) []arch.Target {
	var all []arch.Target
	for _, g := range list {
		all = append(append(all, g.Arch), g.Code...)
	}
	return sortTargets(all)
}

// embedded are the targets that end up in the file.
func embedded(list []manifest.Gencode) []string {
	var all []arch.Target
	for _, g := range list {
		all = append(all, g.Code...)
	}
	return names(sortTargets(all))
}

func names(list []arch.Target) []string {
	var all []string
	for _, t := range list {
		all = append(all, t.String())
	}
	return all
}

// gencodeArgs gives nvcc's arguments for a list.
func gencodeArgs(list []manifest.Gencode) []string {
	var args []string
	for _, g := range list {
		code := strings.Join(names(g.Code), ",")
		if len(g.Code) > 1 {
			code = "[" + code + "]"
		}
		args = append(args, "-gencode", "arch="+g.Arch.String()+",code="+code)
	}
	return args
}
