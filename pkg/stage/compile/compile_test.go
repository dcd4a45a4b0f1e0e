package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
)

// hopper is the gencode of most tests.
var hopper = []manifest.Gencode{{
	Arch: arch.Target{Class: arch.Compute, Number: 90},
	Code: []arch.Target{{Class: arch.SM, Number: 90}, {Class: arch.Compute, Number: 90}},
}}

func TestCommandLines(t *testing.T) {
	const g = "-gencode arch=compute_90,code=[sm_90,compute_90]"
	tests := []struct {
		name  string
		build manifest.Build
		want  []string // after the path of nvcc
	}{
		{"executable", manifest.Build{Kind: manifest.Executable, Sources: []string{"src/a.cu"}, Flags: []string{"-O2", "-lm"}, Output: "build/a"}, []string{
			g + " -O2 -lm -MD -MF build/.a.objects/1-a.d -c src/a.cu -o build/.a.objects/1-a.o",
			g + " build/.a.objects/1-a.o -O2 -lm -o build/a",
		}},
		{"shared", manifest.Build{Kind: manifest.Shared, Sources: []string{"a.cu"}, Output: "liba.so"}, []string{
			g + " -Xcompiler -fPIC -MD -MF .liba.so.objects/1-a.d -c a.cu -o .liba.so.objects/1-a.o",
			g + " -Xcompiler -fPIC -shared .liba.so.objects/1-a.o -o liba.so",
		}},
		{"static", manifest.Build{Kind: manifest.Static, Sources: []string{"a.cu"}, Output: "liba.a"}, []string{
			g + " -MD -MF .liba.a.objects/1-a.d -c a.cu -o .liba.a.objects/1-a.o",
			g + " -lib .liba.a.objects/1-a.o -o liba.a",
		}},
		// C10: the device link must know the targets too.
		{"relocatable", manifest.Build{Kind: manifest.Executable, RDC: true, Sources: []string{"x/a.cu", "y/a.cu"}, Output: "a"}, []string{
			g + " -rdc=true -MD -MF .a.objects/1-a.d -c x/a.cu -o .a.objects/1-a.o",
			g + " -rdc=true -MD -MF .a.objects/2-a.d -c y/a.cu -o .a.objects/2-a.o",
			g + " -rdc=true .a.objects/1-a.o .a.objects/2-a.o -o a",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.build.Name, tt.build.Gencode = "b", hopper
			p := newProject(t, tt.build)
			p.file("inc/h.h", "")
			for _, s := range tt.build.Sources {
				p.file(s, "")
			}
			probe := p.fakeNVCC("")
			builds, _ := Run(t.Context(), p.m, probe, nil)
			b := builds[0]
			if b.Problem != "" || b.Failed {
				t.Fatalf("build %+v", b)
			}
			var recorded []string
			for _, c := range b.Commands {
				if c.Args[0] != probe.Toolkit.NVCC || c.Dir != "." || c.Exit != 0 {
					t.Errorf("command %+v", c)
				}
				recorded = append(recorded, strings.Join(c.Args[1:], " "))
			}
			if !cmp.Equal(recorded, tt.want) {
				t.Error(cmp.Diff(tt.want, recorded))
			}
			ran := strings.Split(strings.TrimSpace(p.read("arguments")), "\n")
			sorted := cmp.Transformer("", func(s []string) map[string]int {
				m := map[string]int{}
				for _, l := range s {
					m[l]++
				}
				return m
			})
			if !cmp.Equal(ran, tt.want, sorted) { // sources are compiled in any order
				t.Error(cmp.Diff(tt.want, ran))
			}
			if want := []string{"sm_90", "compute_90"}; !cmp.Equal(b.Targets, want) || b.Kind != string(tt.build.Kind) || b.Output != tt.build.Output {
				t.Errorf("build %+v", b)
			}
		})
	}
}

func TestInputs(t *testing.T) {
	p := newProject(t,
		manifest.Build{Name: "a", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"src/a.cu", "src/b.cu"}, Output: "a"},
		manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"src/b.cu"}, Output: "b"})
	p.file("inc/h.h", "header")
	p.file("src/a.cu", "a")
	p.file("src/b.cu", "b")
	var events []stage.Event
	builds, inputs := Run(t.Context(), p.m, p.fakeNVCC(""), func(e stage.Event) { events = append(events, e) })
	for _, b := range builds {
		if b.Problem != "" {
			t.Errorf("build %+v", b)
		}
	}
	file := func(path, text string) record.File {
		sum := sha256.Sum256([]byte(text))
		return record.File{Path: path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))}
	}
	if want := []record.File{file("inc/h.h", "header"), file("src/a.cu", "a"), file("src/b.cu", "b")}; !cmp.Equal(inputs, want) {
		t.Error(cmp.Diff(want, inputs))
	}
	if len(events) != 5 || events[0].Done != 0 || events[4] != (stage.Event{Stage: "compile", What: "b", Done: 4, Total: 5}) {
		t.Errorf("events %+v", events)
	}
}

func TestInputsLeaveTheSystemOut(t *testing.T) {
	in := newInputs(&manifest.Manifest{Dir: "/usr/src/app"}, "")
	in.system = append(in.system, "/home/me/cuda")
	tests := map[string]bool{
		"/usr/src/app/a.h": false, // a project below /usr, as in containers
		"/usr/include/a.h": true, "/opt/gcc/a.h": true, "/home/me/cuda/include/a.h": true,
		"/home/me/cudax/a.h": false, "/srv/common/a.h": false,
	}
	for path, want := range tests {
		if got := in.isSystem(path); got != want {
			t.Errorf("isSystem(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestNotBuilt(t *testing.T) {
	one := func(change func(*manifest.Build)) manifest.Build {
		b := manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"a.cu"}, Output: "out/a"}
		if change != nil {
			change(&b)
		}
		return b
	}
	h200 := func(p *record.Probe) { p.Devices = []record.Device{{Capability: arch.Capability{Major: 9}}} }
	tests := []struct {
		name    string
		build   manifest.Build
		require manifest.Require
		probe   func(*record.Probe)
		before  string // script in the fake nvcc
		problem string
		failed  bool
		ran     int // commands
		missing []string
	}{
		{name: "no toolkit", build: one(nil), probe: func(p *record.Probe) { p.Toolkit = record.Toolkit{Problem: "no nvcc: install it"} },
			problem: "no usable CUDA toolkit: no nvcc: install it"},
		{name: "no target", build: one(func(b *manifest.Build) { b.Gencode = nil }), probe: h200,
			problem: "no targets: "},
		{name: "missing target", failed: true, missing: []string{"sm_103"},
			build: one(func(b *manifest.Build) {
				b.Gencode = append([]manifest.Gencode{{Arch: parseTargets(t, "compute_90")[0], Code: parseTargets(t, "sm_103")}}, hopper...)
			}),
			problem: "the toolkit does not list sm_103 (asked for: sm_90 compute_90 sm_103; nvcc 13.0 lists: sm_75 sm_80 sm_90 sm_100 sm_121), so nothing was compiled"},
		{name: "missing target of a device", failed: true, missing: []string{"sm_110", "compute_110"},
			build:   one(func(b *manifest.Build) { b.Gencode = nil }),
			require: manifest.Require{PresentDevices: true},
			probe:   func(p *record.Probe) { p.Devices = []record.Device{{Capability: arch.Capability{Major: 11}}} },
			problem: "the toolkit does not list sm_110, compute_110 (asked for: sm_110 compute_110; nvcc 13.0 lists: "},
		{name: "name with a shell's character", failed: true, build: one(func(b *manifest.Build) { b.Sources = []string{"$(id).cu"} }),
			problem: "file name"},
		{name: "name like an option", failed: true, build: one(func(b *manifest.Build) { b.Sources = []string{"-a.cu"} }),
			problem: "file name"},
		{name: "output is a folder", failed: true, build: one(func(b *manifest.Build) { b.Output = "inc" }), problem: "output "},
		{name: "source is missing", failed: true, build: one(func(b *manifest.Build) { b.Sources = []string{"no.cu"} }), problem: "source: "},
		{name: "compiler fails", failed: true, build: one(nil), before: `echo "a.cu(1): error: no"; exit 2`, ran: 1,
			problem: "nvcc compiling a.cu failed: exit code 2"},
		{name: "linker fails", failed: true, build: one(nil), before: `[ -n "$deps" ] || { echo half >$out; exit 1; }`, ran: 2,
			problem: "nvcc linking out/a failed: exit code 1"},
		{name: "compiler crashes", failed: true, build: one(nil), before: "kill -SEGV $$", ran: 1,
			problem: "nvcc compiling a.cu failed: ended by signal: segmentation fault"},
		{name: "nothing written", failed: true, build: one(nil), before: "[ -n \"$deps\" ] || exit 0", ran: 2,
			problem: "nvcc ended with exit code 0 but did not write out/a"},
		{name: "no dependency file", failed: true, build: one(nil), before: "deps=", ran: 2, problem: "nvcc's list of headers: "},
		{name: "unreadable dependency file", failed: true, build: one(nil), before: `[ -z "$deps" ] || { echo hello >$deps; deps=; }`, ran: 2,
			problem: "nvcc's list of headers out/.a.objects/1-a.d cannot be read: "},
		{name: "source changes", failed: true, build: one(nil), before: "echo more >>a.cu", ran: 2,
			problem: "a.cu changed while it was compiled: build again"},
		{name: "header changes", failed: true, build: one(nil), before: "sleep 0.02; echo more >>inc/h.h", ran: 2,
			problem: "inc/h.h changed during the build: build again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			later := manifest.Build{Name: "later", Kind: manifest.External, Command: []string{"true"}}
			p := newProject(t, tt.build, later)
			p.m.Require = tt.require
			for _, name := range []string{"a.cu", "$(id).cu", "-a.cu", "inc/h.h"} {
				p.file(name, "x")
			}
			p.file("out/a", "\x7fELF old")
			probe := p.fakeNVCC(tt.before)
			if tt.probe != nil {
				tt.probe(&probe)
			}
			builds, _ := Run(t.Context(), p.m, probe, nil)
			b := builds[0]
			if !strings.HasPrefix(b.Problem, tt.problem) || b.Failed != tt.failed || len(b.Commands) != tt.ran || !cmp.Equal(b.MissingTargets, tt.missing) {
				t.Errorf("got %+v\nwant problem %q, failed %v, %d commands, missing %v", b, tt.problem, tt.failed, tt.ran, tt.missing)
			}
			if tt.ran > 0 && p.exists("out/a") {
				t.Errorf("an output is left: %q", p.read("out/a"))
			}
			if tt.failed {
				if l := builds[1]; l.Failed || l.Problem != "not started, because build b failed" || len(l.Commands) > 0 {
					t.Errorf("later build %+v", l)
				}
			}
		})
	}
}

// An archive is made anew: nvcc -lib adds to the one that is there.
func TestOldOutputIsRemoved(t *testing.T) {
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Static, Gencode: hopper, Sources: []string{"a.cu"}, Output: "a.a"})
	p.file("a.cu", "")
	p.file("inc/h.h", "")
	p.file("a.a", "!<arch>\nold member\n")
	Run(t.Context(), p.m, p.fakeNVCC(""), nil)
	if got, want := p.read("a.a"), "made from .a.a.objects/1-a.o\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What no build makes was written by hand: an output that names it by mistake
// must not cost it.
func TestHandWrittenFileIsNotOverwritten(t *testing.T) {
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"a.cu"}, Output: "src/b.cu"})
	p.file("a.cu", "")
	p.file("src/b.cu", "__global__ void precious() {}\n")
	builds, _ := Run(t.Context(), p.m, p.fakeNVCC(""), nil)
	if b := builds[0]; !b.Failed || !strings.Contains(b.Problem, "src/b.cu exists and is no product of a build") || len(b.Commands) > 0 {
		t.Errorf("got %+v", b)
	}
	if got := p.read("src/b.cu"); got != "__global__ void precious() {}\n" {
		t.Errorf("the file now holds %q", got)
	}
}

// A header dated in the future, from a machine with a wrong clock, has not
// changed.
func TestFutureTimes(t *testing.T) {
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Static, Gencode: hopper, Sources: []string{"a.cu"}, Output: "a.a"})
	p.file("a.cu", "")
	future := time.Now().Add(1000 * time.Hour)
	if err := os.Chtimes(p.file("inc/h.h", ""), future, future); err != nil {
		t.Fatal(err)
	}
	if builds, _ := Run(t.Context(), p.m, p.fakeNVCC(""), nil); builds[0].Problem != "" {
		t.Error(builds[0].Problem)
	}
}

func TestOutputOfAFailureIsKeptFromBothEnds(t *testing.T) {
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Static, Gencode: hopper, Sources: []string{"a.cu"}, Output: "a.a"})
	p.file("a.cu", "")
	builds, _ := Run(t.Context(), p.m, p.fakeNVCC("echo first; yes error | head -n 100000; echo last; exit 1"), nil)
	out := builds[0].Commands[0].Output
	if len(out) > 70<<10 || !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "last\n") || !strings.Contains(out, "bytes left out]") {
		t.Errorf("%d bytes: %.50q ... %q", len(out), out, out[max(len(out)-50, 0):])
	}
}

func TestCancel(t *testing.T) {
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"a.cu"}, Output: "a"},
		manifest.Build{Name: "later", Kind: manifest.External, Command: []string{"true"}})
	p.file("a.cu", "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !p.exists("a") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	builds, _ := Run(ctx, p.m, p.fakeNVCC(`[ -n "$deps" ] || { echo half >$out; sleep 60; }`), nil)
	if b := builds[0]; b.Failed || b.Problem != "nvcc linking a: stopped: context canceled" {
		t.Errorf("build %+v", b)
	}
	if l := builds[1]; l.Failed || l.Problem != "not started: context canceled" {
		t.Errorf("later build %+v", l)
	}
	if p.exists("a") {
		t.Error("half an output is left")
	}
}

func TestExternal(t *testing.T) {
	tests := []struct {
		name    string
		command []string
		output  string
		problem string
		failed  bool
	}{
		{"runs in the manifest's folder", []string{"sh", "-c", "cat here"}, "text", "", false},
		{"a program of the project", []string{"./make.sh", "a b"}, "made a b\n", "", false},
		{"fails", []string{"sh", "-c", "echo no >&2; exit 3"}, "no\n", "sh failed: exit code 3", true},
		{"is missing", []string{"cudaproof-no-such-program"}, "", "cudaproof-no-such-program: not found in PATH", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, manifest.Build{Name: "b", Kind: manifest.External, Command: tt.command})
			p.file("here", "text")
			p.file("make.sh", "#!/bin/sh\necho made \"$1\"\n")
			t.Setenv("CUDAFLAGS", "-O3")
			builds, inputs := Run(t.Context(), p.m, record.Probe{}, nil)
			b := builds[0]
			if len(b.Commands) != 1 || !cmp.Equal(b.Commands[0].Args, tt.command) || b.Commands[0].Output != tt.output ||
				b.Problem != tt.problem || b.Failed != tt.failed || b.Targets != nil {
				t.Errorf("got %+v", b)
			}
			if len(inputs) > 0 || !cmp.Equal(b.Environment, map[string]string{"CUDAFLAGS": "-O3"}) {
				t.Errorf("inputs %v, environment %v", inputs, b.Environment)
			}
		})
	}
}
