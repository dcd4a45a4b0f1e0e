package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/nvcc"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// calls gives what the calls of nvcc in a build ask for, as they were really run.
func calls(b record.Build) []nvcc.Command {
	var list []nvcc.Command
	for _, c := range b.Commands {
		if asked, ok := nvcc.Parse(c.Args, b.Environment); ok {
			list = append(list, asked)
		}
	}
	return list
}

// writes reports whether a build is known to write a file: its output, or that of
// its call of nvcc.
func writes(m *manifest.Manifest, b record.Build, file string) bool {
	is := func(output string) bool { return output != "" && m.Abs(output) == m.Abs(file) }
	return is(b.Output) || slices.ContainsFunc(calls(b), func(c nvcc.Command) bool { return is(c.Output) })
}

// askedFindings compares what the compile commands of a build ask for with what is
// in the file that it writes.
func askedFindings(b record.Build, a record.Artifact) []Finding {
	list := calls(b)
	found := slices.Concat(missingTargets(b, list, a), unaskedTargets(b, list, a))
	for _, c := range list {
		found = append(found, commandFindings(b, c, a)...)
	}
	return found
}

// missingTargets names what the compile commands ask for and no image of the file
// has. Where machine code is made from LTO IR by the device link, the compile
// commands do not tell.
func missingTargets(b record.Build, list []nvcc.Command, a record.Artifact) []Finding {
	there := targetsOf(a, func(devicecode.Container, devicecode.Image) bool { return true })
	if len(there) == 0 {
		return nil
	}
	var missing []arch.Target
	for _, c := range list {
		lto := c.LTO || slices.ContainsFunc(c.Pairs, func(p nvcc.Pair) bool { return p.Target.Class == arch.LTO })
		if len(c.Sources) == 0 || lto {
			continue
		}
		for _, t := range c.Targets() {
			if !there[t] {
				missing = append(missing, t)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []Finding{{
		ID: "CP308", Artifact: a.Path,
		Fact:   fmt.Sprintf("Build %s asks nvcc for %s; no image in the file has %s.", b.Name, joined(missing), them(missing)),
		Cause:  "A later step took the images away, or wrote the file from other objects.",
		Action: "See what runs between nvcc and this file: the link, a strip or prune step, a copy.",
	}}
}

// unaskedTargets names what is in the file and no command asks for, where all that
// they ask for is known by name.
func unaskedTargets(b record.Build, list []nvcc.Command, a record.Artifact) []Finding {
	asked := map[arch.Target]bool{}
	for _, c := range list {
		if c.Unread != "" || len(c.Words) > 0 || c.NamesNone() {
			return nil
		}
		for _, t := range c.Targets() {
			asked[t] = true
			// -arch=sm_90a of nvcc 13 keeps the PTX of compute_90 too.
			asked[arch.Target{Class: arch.Compute, Number: t.Number}] = true
		}
	}
	if len(asked) == 0 {
		return nil
	}
	there := targetsOf(a, func(c devicecode.Container, i devicecode.Image) bool {
		return len(i.Kernels)+i.Variables > 0 && !coverage.DeviceRuntime(c)
	})
	maps.DeleteFunc(there, func(t arch.Target, _ bool) bool { return asked[t] })
	if len(there) == 0 {
		return nil
	}
	extra := slices.SortedFunc(maps.Keys(there), arch.Compare)
	return []Finding{{
		ID: "CP309", Artifact: a.Path,
		Fact:  fmt.Sprintf("The file has images for %s; build %s asks nvcc for %s.", joined(extra), b.Name, joined(slices.SortedFunc(maps.Keys(named(list)), arch.Compare))),
		Cause: "They come from a library or an object that another command compiled.",
	}}
}

// commandFindings names the commands whose targets are not stated, or not meant.
func commandFindings(b record.Build, c nvcc.Command, a record.Artifact) []Finding {
	var found []Finding
	add := func(id, fact, cause, action string) {
		found = append(found, Finding{ID: id, Artifact: a.Path, Fact: fact, Cause: cause, Action: action})
	}
	const state = "State the targets, each with -gencode, at compile and link."
	switch {
	case !c.NamesNone():
	case len(c.Sources) > 0:
		add("CP310", fmt.Sprintf("Build %s compiles %s without -arch or -gencode.", b.Name, strings.Join(c.Sources, ", ")),
			"nvcc then takes its default, which changes with its version: sm_52 in 11 and 12, sm_75 in 13.", state)
	case (c.Links || c.DeviceLinks) && hasRelocatable(a.File):
		add("CP310", fmt.Sprintf("Build %s links relocatable device code without -arch or -gencode.", b.Name),
			"The device link then makes an image for nvcc's default target alone, and ends with exit code 0.", state)
	}
	if slices.Contains(c.Words, "native") {
		add("CP311", fmt.Sprintf("Build %s compiles with -arch=native.", b.Name),
			"The targets are then those of the devices of the machine that builds, without PTX; where it has none, nvcc warns and takes its default.", state)
	}
	for _, p := range c.Pairs {
		if p.Target.Class == arch.SM && p.Target.Suffix != arch.Plain && p.From.Suffix != p.Target.Suffix {
			add("CP312", fmt.Sprintf("Build %s compiles %s from %s.", b.Name, p.Target, p.From),
				fmt.Sprintf("What the source guards for %s is compiled as for %s, without an error: a kernel may be left with a trap.", p.Target, p.From),
				fmt.Sprintf("Write -gencode arch=%s,code=%s.", p.Target.As(arch.Compute), p.Target))
		}
	}
	return found
}

// environmentFindings names the variables that change what nvcc does.
func environmentFindings(b record.Build) []Finding {
	if len(b.Environment) == 0 {
		return nil
	}
	var set []string
	for _, k := range slices.Sorted(maps.Keys(b.Environment)) {
		set = append(set, k+"="+b.Environment[k])
	}
	f := Finding{
		ID:     "CP305",
		Fact:   fmt.Sprintf("Build %s ran with %s in the environment.", b.Name, strings.Join(set, " ")),
		Cause:  "These variables change a build without showing on its command line; in NVCC_APPEND_FLAGS the last -arch wins.",
		Action: "Unset them, or move their options into the manifest.",
	}
	for _, c := range b.Commands {
		with, ok := nvcc.Parse(c.Args, b.Environment)
		without, _ := nvcc.Parse(c.Args, nil)
		if ok && !slices.Equal(asked(with), asked(without)) {
			f.ID = "CP313"
			f.Fact += fmt.Sprintf(" They change the targets from %s to %s.", orNothing(asked(without)), orNothing(asked(with)))
			break
		}
	}
	return []Finding{f}
}

// asked gives the targets of a command as text, those that nvcc works out last.
func asked(c nvcc.Command) []string { return append(texts(c.Targets()), c.Words...) }

// named gives the targets of all commands.
func named(list []nvcc.Command) map[arch.Target]bool {
	all := map[arch.Target]bool{}
	for _, c := range list {
		for _, t := range c.Targets() {
			all[t] = true
		}
	}
	return all
}

// targetsOf gives the targets of the images of a file that count.
func targetsOf(a record.Artifact, counts func(devicecode.Container, devicecode.Image) bool) map[arch.Target]bool {
	there := map[arch.Target]bool{}
	for _, o := range a.Objects {
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				if i.Target != (arch.Target{}) && counts(c, i) {
					there[i.Target] = true
				}
			}
		}
	}
	return there
}

func hasRelocatable(f artifact.File) bool {
	return slices.ContainsFunc(f.Objects, func(o artifact.Object) bool {
		return slices.ContainsFunc(o.Code.Containers, func(c devicecode.Container) bool {
			return c.Role == devicecode.Relocatable && !coverage.DeviceRuntime(c)
		})
	})
}

// texts gives targets as text.
func texts(list []arch.Target) []string {
	var words []string
	for _, t := range list {
		words = append(words, t.String())
	}
	return words
}

func joined(list []arch.Target) string { return strings.Join(texts(list), ", ") }

func them(list []arch.Target) string {
	if len(list) == 1 {
		return "it"
	}
	return "them"
}
