package probe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

const h200 = `{"driver":13000,"devices":[{"index":0,"uuid":"GPU-585e163f-1fc8-9ae1-9456-e658c6f600f6","name":"NVIDIA H200","major":9,"minor":0,"integrated":false}]}`

func TestH200(t *testing.T) {
	m := newMachine(t)
	m.smi()
	m.nvcc(says(h200, "0"))
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	t.Setenv("NVCC_APPEND_FLAGS", "-arch=sm_80") // belongs to the user's builds
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")

	var events []stage.Event
	p := run(t.Context(), Options{Observer: func(e stage.Event) { events = append(events, e) }}, quick)

	if want := (record.Driver{Version: "580.159.04", CUDA: "13.0"}); p.Driver != want {
		t.Errorf("driver %+v, want %+v", p.Driver, want)
	}
	if p.Toolkit.NVCC != filepath.Join(m.path, "nvcc") || p.Toolkit.Version != "13.0" ||
		p.Toolkit.Release != "13.0.88" || p.Toolkit.Problem != "" {
		t.Errorf("toolkit %+v", p.Toolkit)
	}
	if want := strings.Fields("sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_110 sm_103 sm_120 sm_121"); !cmp.Equal(p.Toolkit.GPUCode, want) {
		t.Error(cmp.Diff(want, p.Toolkit.GPUCode))
	}
	want := []record.Device{{UUID: "GPU-585e163f-1fc8-9ae1-9456-e658c6f600f6", Name: "NVIDIA H200", Capability: arch.Capability{Major: 9}}}
	if !cmp.Equal(p.Devices, want) {
		t.Error(cmp.Diff(want, p.Devices))
	}
	if q := p.DeviceQuery; len(q.Command) != 1 || !strings.HasPrefix(q.Command[0], "<cache>/probe-") ||
		q.Exit != 0 || q.Output != h200+"\n" || q.Problem != "" {
		t.Errorf("device query %+v", q)
	}
	if want := map[string]string{"CUDA_VISIBLE_DEVICES": "0", "CUDA_HOME": ""}; !cmp.Equal(p.Environment, want) {
		t.Error(cmp.Diff(want, p.Environment))
	}
	if p.NvidiaSMI.Problem != "" || !strings.Contains(p.NvidiaSMI.Output, "NVIDIA H200") || strings.Contains(p.NvidiaSMI.Output, "rocesses") {
		t.Errorf("nvidia-smi %+v", p.NvidiaSMI)
	}
	if p.Host.Machine == "" || p.Host.OS == "" {
		t.Errorf("host %+v", p.Host)
	}
	if len(events) != 3 || events[2] != (stage.Event{Stage: "probe", What: "devices", Done: 2, Total: 3}) {
		t.Errorf("events %+v", events)
	}
}

// Jetson: no nvidia-smi, an integrated device.
func TestJetson(t *testing.T) {
	m := newMachine(t)
	t.Setenv("PATH", m.path) // without the machine's own
	if err := os.Remove(filepath.Join(m.path, "nvidia-smi")); err != nil {
		t.Fatal(err)
	}
	m.nvcc(says(`{"driver":12060,"devices":[{"index":0,"uuid":"GPU-00000000-0000-0000-0000-000000000001","name":"Orin","major":8,"minor":7,"integrated":true}]}`, "0"))
	for _, name := range []string{"sh", "cat", "cp", "grep"} {
		if err := os.Symlink("/bin/"+name, filepath.Join(m.path, name)); err != nil {
			t.Fatal(err)
		}
	}
	procVersion = filepath.Join(m.path, "version")
	text := "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.3.0  Release Build\nGCC version:  gcc version 11.4.0\n"
	if err := os.WriteFile(procVersion, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	p := run(t.Context(), Options{}, quick)

	if !strings.HasPrefix(p.NvidiaSMI.Problem, "nvidia-smi: not found in PATH; ") {
		t.Errorf("nvidia-smi %+v", p.NvidiaSMI)
	}
	if want := (record.Driver{Version: "540.3.0", CUDA: "12.6"}); p.Driver != want {
		t.Errorf("driver %+v, want %+v", p.Driver, want)
	}
	if len(p.Devices) != 1 || !p.Devices[0].Integrated || p.Devices[0].Capability.String() != "8.7" {
		t.Errorf("devices %+v", p.Devices)
	}
}

func TestDeviceQueryProblems(t *testing.T) {
	failed := func(code, name, text string) string {
		return `{"driver":13000,"failed":{"call":"cudaGetDeviceCount","error":` + code + `,"name":"` + name + `","text":"` + text + `"}}`
	}
	tests := []struct {
		name, program string
		problem       string // beginning
		advice        string // contained
		cuda          string
	}{
		{"100", says(failed("100", "cudaErrorNoDevice", "no CUDA-capable device is detected"), "1"),
			"cudaGetDeviceCount: error 100 (cudaErrorNoDevice): no CUDA-capable device is detected; ", "CUDA_VISIBLE_DEVICES", "13.0"},
		{"35", says(failed("35", "cudaErrorInsufficientDriver", "CUDA driver version is insufficient"), "1"),
			"cudaGetDeviceCount: error 35 (cudaErrorInsufficientDriver): ", "update the driver", "13.0"},
		{"803", says(failed("803", "cudaErrorSystemDriverMismatch", "unsupported combination"), "1"),
			"cudaGetDeviceCount: error 803 ", "forward-compatibility", "13.0"},
		{"another error", says(failed("999", "cudaErrorUnknown", "unknown error"), "1"),
			"cudaGetDeviceCount: error 999 ", "dmesg", "13.0"},
		{"no driver", says(`{"no_driver":true}`, "1"), "no CUDA driver", "install the NVIDIA driver", ""},
		{"no device", says(`{"driver":13000,"devices":[]}`, "0"), "no visible device", "CUDA_VISIBLE_DEVICES", "13.0"},
		{"crash", "kill -SEGV $$", "devices unknown: the probe program: ended by signal: segmentation fault", "dmesg", ""},
		{"silence", "exit 0", "devices unknown: the probe program's output is of no use", "remove", ""},
		{"rubbish", "echo hello", "devices unknown: the probe program's output is of no use", "not the JSON", ""},
		{"devices with a failing exit code", says(h200, "1"), "devices unknown: ", "exit code 1 does not fit", ""},
		{"failure with exit code 0", says(failed("100", "a", "b"), "0"), "devices unknown: ", "exit code 0 does not fit", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.smi()
			m.nvcc(tt.program)
			p := run(t.Context(), Options{}, quick)
			got := p.DeviceQuery.Problem
			if !strings.HasPrefix(got, tt.problem) || !strings.Contains(got, tt.advice) {
				t.Errorf("problem %q, want %q... with %q", got, tt.problem, tt.advice)
			}
			if p.Devices == nil || len(p.Devices) > 0 {
				t.Errorf("devices %#v, want none", p.Devices)
			}
			if p.Driver.CUDA != tt.cuda || (p.Driver.Problem == "") != (tt.cuda != "") {
				t.Errorf("driver %+v, want CUDA %q", p.Driver, tt.cuda)
			}
		})
	}
}

func TestToolProblems(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(machine)
		options Options
		toolkit string // contained in each Problem
		query   string
	}{
		{"nvcc prints rubbish", func(m machine) { m.tool("nvcc", "echo hello") }, Options{},
			"nvcc --version: it did not print a line with a release", "needs nvcc"},
		{"nvcc fails", func(machine) {}, Options{}, "nvcc --version: exit code 127", "needs nvcc"},
		{"nvcc lists nothing", func(m machine) {
			m.tool("nvcc", `[ "$1" = --version ] && cat `+testdata(m.t, "h200/nvcc-version.txt"))
		}, Options{}, "nvcc --list-gpu-code: exit code 1", "building the probe program failed: exit code 1"},
		{"the manifest's nvcc is missing", func(machine) {}, Options{NVCC: "/no/nvcc"},
			`nvcc "/no/nvcc", as the manifest's toolkit.nvcc says: `, "needs nvcc"},
		{"the program does not compile", func(m machine) {
			m.nvcc("")
			_ = os.Remove(filepath.Join(m.path, "program"))
		}, Options{}, "", "building the probe program failed: exit code 1; see nvcc's message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			tt.prepare(m)
			p := run(t.Context(), tt.options, quick)
			if !strings.Contains(p.Toolkit.Problem, tt.toolkit) || (tt.toolkit == "") != (p.Toolkit.Problem == "") {
				t.Errorf("toolkit %q, want %q", p.Toolkit.Problem, tt.toolkit)
			}
			if !strings.Contains(p.DeviceQuery.Problem, tt.query) {
				t.Errorf("device query %q, want %q", p.DeviceQuery.Problem, tt.query)
			}
			if !strings.HasPrefix(p.NvidiaSMI.Problem, "nvidia-smi: exit code 127; ") || !strings.HasPrefix(p.Driver.Problem, "driver version unknown: ") {
				t.Errorf("nvidia-smi %q, driver %q", p.NvidiaSMI.Problem, p.Driver.Problem)
			}
		})
	}
}

func TestFindNVCC(t *testing.T) {
	m := newMachine(t)
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "nvcc"), []byte("#!/bin/sh\n# fakes nvcc\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	inPath, inHome := filepath.Join(m.path, "nvcc"), filepath.Join(home, "bin", "nvcc")
	tests := []struct{ name, cudaHome, path, want string }{
		{"", "", m.path, inPath},
		{"", home, m.path, inHome},
		{"", "/no/such", m.path, inPath},
		{"", "", "/no/such", "no nvcc: neither"},
		{"nvcc", home, m.path, inPath},
		{inHome, "", m.path, inHome},
		{"nvcc-11.8", "", m.path, "as the manifest's toolkit.nvcc says"},
		{home + "/nvcc", "", m.path, "as the manifest's toolkit.nvcc says"},
	}
	for _, tt := range tests {
		t.Setenv("CUDA_HOME", tt.cudaHome)
		t.Setenv("PATH", tt.path)
		got, err := FindNVCC(tt.name)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("FindNVCC(%q) with CUDA_HOME=%s PATH=%s: got %q, want %q", tt.name, tt.cudaHome, tt.path, got, tt.want)
		}
	}
}

func TestHangingTools(t *testing.T) {
	m := newMachine(t)
	m.tool("nvidia-smi", "sleep 60")
	m.nvcc("sleep 60")
	l := quick
	l.smi, l.program = 100*time.Millisecond, 100*time.Millisecond
	p := run(t.Context(), Options{}, l)
	if !strings.HasPrefix(p.NvidiaSMI.Problem, "nvidia-smi: took longer than 100ms and was stopped") {
		t.Errorf("nvidia-smi %q", p.NvidiaSMI.Problem)
	}
	if !strings.HasPrefix(p.DeviceQuery.Problem, "devices unknown: the probe program: took longer than 100ms and was stopped") {
		t.Errorf("device query %q", p.DeviceQuery.Problem)
	}
}

func TestCancel(t *testing.T) {
	m := newMachine(t)
	m.smi()
	m.nvcc("touch " + m.path + "/started; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(m.path, "started")); err == nil {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	p := run(ctx, Options{}, quick)
	if want := "devices unknown: the probe program: stopped: context canceled"; !strings.HasPrefix(p.DeviceQuery.Problem, want) {
		t.Errorf("device query %q, want %q", p.DeviceQuery.Problem, want)
	}
}

// The program is built once, also when several start at the same time.
func TestProgramIsKept(t *testing.T) {
	m := newMachine(t)
	m.smi()
	m.nvcc(says(h200, "0"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if p := run(t.Context(), Options{}, quick); len(p.Devices) != 1 {
				t.Errorf("device query %+v", p.DeviceQuery)
			}
		})
	}
	wg.Wait()
	builds := func() string {
		text, err := os.ReadFile(filepath.Join(m.path, "builds"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := builds()
	run(t.Context(), Options{}, quick)
	if after := builds(); after != before {
		t.Errorf("built again: %q, before %q", after, before)
	}
	files, err := os.ReadDir(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "cudaproof"))
	if err != nil || len(files) != 1 || !strings.HasPrefix(files[0].Name(), "probe-") {
		t.Errorf("cache holds %v, %v; want the program alone", files, err)
	}
}

func TestProgramMayNotRun(t *testing.T) {
	m := newMachine(t)
	m.smi()
	m.nvcc(says(h200, "0"))
	run(t.Context(), Options{}, quick)
	programs, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "cudaproof", "probe-*"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("programs %v, %v", programs, err)
	}
	if err := os.Chmod(programs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t.Context(), Options{}, quick)
	if got := p.DeviceQuery.Problem; !strings.Contains(got, "permission denied") || !strings.Contains(got, "XDG_CACHE_HOME") {
		t.Errorf("problem %q", got)
	}
}

// Another nvcc, or another release under the same name, gives another program.
func TestProgramName(t *testing.T) {
	a := record.Toolkit{NVCC: "/a/nvcc", VersionOutput: record.ToolOutput{Output: "13.0"}}
	b, c := a, a
	b.NVCC, c.VersionOutput.Output = "/b/nvcc", "13.1"
	if programName(a) == programName(b) || programName(a) == programName(c) {
		t.Errorf("names %s, %s, %s", programName(a), programName(b), programName(c))
	}
}

func TestCacheFolderIsPrivate(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(dir string) error
		problem string
	}{
		{"missing", func(string) error { return nil }, ""},
		{"private", func(dir string) error { return os.Mkdir(dir, 0o700) }, ""},
		{"open to others", func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770)) }, "mode 0700"},
		{"symbolic link", func(dir string) error { return os.Symlink("/", dir) }, "not a folder of this user"},
		{"file", func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			if err := tt.prepare(filepath.Join(cache, "cudaproof")); err != nil {
				t.Fatal(err)
			}
			dir, err := tool.CacheFolder()
			if tt.problem == "" {
				info, statErr := os.Stat(dir)
				if err != nil || statErr != nil || info.Mode() != os.ModeDir|0o700 {
					t.Errorf("got %q (%v), %v", dir, info, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
				t.Errorf("got %v, want %q", err, tt.problem)
			}
		})
	}
}
