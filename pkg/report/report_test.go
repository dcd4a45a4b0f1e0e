package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// hostile is what a file, kernel or program may call itself (case C33).
const hostile = "a\x1b[31mb\n::error::x<script>\u202e##[endgroup]\xff"

func hostileRecord() (*record.Record, judge.Result) {
	r := &record.Record{
		Project: hostile,
		Artifacts: []record.Artifact{{
			File: artifact.File{
				Path: hostile, SHA256: strings.Repeat("a", 64), Format: artifact.Executable,
				Objects: []artifact.Object{{Code: devicecode.Code{Containers: []devicecode.Container{{
					Role: devicecode.WholeProgram,
					Images: []devicecode.Image{{
						Kind:    devicecode.Cubin,
						Target:  arch.Target{Class: arch.SM, Number: 90},
						Kernels: []devicecode.Kernel{{Mangled: hostile, Name: hostile}},
					}},
				}}}}},
			},
		}},
		Runs: []record.Run{{
			EntryPoint: hostile, Mode: "native", Devices: []string{hostile},
			Trace: record.Trace{Processes: []record.TracedProcess{{
				Program: hostile,
				Kernels: []record.TracedKernel{{Mangled: hostile, Name: hostile, Launches: 1}},
			}}},
		}},
	}
	return r, judge.Conclude([]judge.Finding{{ID: "CP104", Artifact: hostile, Kernel: hostile, Fact: hostile, Cause: hostile, Action: hostile}})
}

func TestHostileNamesInText(t *testing.T) { // C33
	r, result := hostileRecord()
	var b bytes.Buffer
	if err := Text(&b, r, result, Options{Bundle: hostile}); err != nil {
		t.Fatal(err)
	}
	if err := Files(&b, r.Artifacts, true, Style{}); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Error("output is not valid UTF-8")
	}
	for line := range strings.Lines(b.String()) {
		if strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("control characters in %q", line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("workflow command in %q", line)
		}
	}
}

func TestTextIsNarrow(t *testing.T) {
	r, _ := hostileRecord()
	r.Project = "p"
	result := judge.Conclude([]judge.Finding{{ID: "CP104", Artifact: "app", Fact: strings.Repeat("word ", 60), Action: strings.Repeat("do ", 60)}})
	var b bytes.Buffer
	if err := Text(&b, r, result, Options{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && strings.Contains(strings.TrimSpace(line), "word word") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.HasPrefix(b.String(), "FAILED: p: 1 check failed.\n") {
		t.Errorf("does not begin with the verdict: %.60q", b.String())
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("colour without a terminal")
	}
}

func TestJSONIsComplete(t *testing.T) {
	r, result := hostileRecord()
	var b bytes.Buffer
	if err := JSON(&b, r, result, Options{Bundle: "e"}); err != nil {
		t.Fatal(err)
	}
	var got Document
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != judge.Failed || len(got.Findings) != 1 || got.Findings[0].Severity != judge.Error || len(got.Record.Artifacts) != 1 || got.Bundle != "e" {
		t.Errorf("got %+v", got)
	}
	if len(got.Kernels) != 1 || got.Kernels[0].Kernels != 1 || got.Kernels[0].Native != 1 || got.Kernels[0].PTX != 0 {
		t.Errorf("kernels %+v", got.Kernels)
	}
	if strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "<script>") {
		t.Errorf("control characters, or a name that cannot be copied, in %s", b.String())
	}
}

func TestSentence(t *testing.T) {
	r := &record.Record{
		Project: "saxpy",
		Probe:   record.Probe{Driver: record.Driver{Version: "580.159.04"}, Devices: []record.Device{{Name: "NVIDIA H200", Capability: arch.Capability{Major: 9}}}},
		Artifacts: []record.Artifact{
			{File: artifact.File{Path: "build/saxpy", SHA256: "0123456789abcdef"}},
			{File: artifact.File{Path: "build/plugin.so", SHA256: "123456789abcdef0"}},
			{File: artifact.File{Path: "build/lib.a", SHA256: "23456789abcdef01"}},
		},
		Runs: []record.Run{
			{EntryPoint: "f32", Mode: "native", Processes: []record.Process{{Artifacts: []string{"build/saxpy"}}}},
			{EntryPoint: "f32", Mode: "ptx", Processes: []record.Process{{Artifacts: []string{"build/saxpy"}}}},
			{EntryPoint: "all", Mode: "native", Processes: []record.Process{{Artifacts: []string{"build/plugin.so", "build/saxpy"}}}},
		},
	}
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{nil, "PASSED: saxpy: with driver 580.159.04 on NVIDIA H200 (9.0), entry point f32 (native, ptx) passed for build/saxpy (SHA-256 0123456789ab); entry point all (native) passed for build/saxpy, build/plugin.so (SHA-256 123456789abc). Inspected only: build/lib.a (SHA-256 23456789abcd). Nothing is said of other drivers, devices, files or entry points."},
		{[]string{"CP104", "CP307"}, "FAILED: saxpy: 1 check failed, 1 could not be made."},
		{[]string{"CP307", "CP213"}, "NOT VERIFIED: saxpy: 2 checks could not be made; none of the others failed."},
	} {
		var found []judge.Finding
		for _, id := range test.ids {
			found = append(found, judge.Finding{ID: id})
		}
		if got := Sentence(r, judge.Conclude(found), ""); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	got := commandLine([]string{"nvcc", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "it's", ""})
	if want := `nvcc -gencode 'arch=compute_90,code=[sm_90,compute_90]' 'it'\''s' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
