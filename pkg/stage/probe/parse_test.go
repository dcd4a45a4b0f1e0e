package probe

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

func TestWithoutProcesses(t *testing.T) {
	recorded, err := os.ReadFile(testdata(t, "h200/nvidia-smi.txt"))
	if err != nil {
		t.Fatal(err)
	}
	frame := "+------+\n"
	tests := []struct{ name, in, want string }{
		{"H200", string(recorded), strings.Join(strings.SplitAfter(string(recorded), "\n")[:12], "")},
		{"no table", "No devices were found\n", "No devices were found\n"},
		{"empty", "", ""},
		{"heading first", frame + "| Processes: |\n| 1 secret |\n", ""},
		{"no empty line between", "| GPU |\n" + frame + "| Processes: |\n| secret |\n", "| GPU |\n"},
		{"older heading", "| GPU |\n" + frame + "\n" + frame + "| Compute processes:     GPU Memory |\n|  0  123  secret |\n" + frame, "| GPU |\n" + frame},
		{"carriage returns", "| GPU |\r\n\r\n+--+\r\n| Processes: |\r\n| secret |\r\n", "| GPU |\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := withoutProcesses(tt.in); got != tt.want {
				t.Error(cmp.Diff(tt.want, got))
			}
		})
	}
}

func TestDriverVersionInProc(t *testing.T) {
	text, err := os.ReadFile(testdata(t, "h200/proc-version.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		string(text): "580.159.04",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n": "470.256.02",
		"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.3.0  Release Build\n":         "540.3.0",
		"GCC version:  gcc version 115.3.0 (GCC) \n":                                                 "",
	}
	for in, want := range tests {
		got := ""
		if m := nvrmVersion.FindStringSubmatch(in); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCUDAVersion(t *testing.T) {
	for in, want := range map[int]string{13000: "13.0", 12080: "12.8", 11080: "11.8", 9020: "9.2"} {
		if got := cudaVersion(in); got != want {
			t.Errorf("%d: got %s, want %s", in, got, want)
		}
	}
}

func TestPrettyName(t *testing.T) {
	tests := map[string]string{
		"NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\n": "Ubuntu 24.04.3 LTS",
		"PRETTY_NAME=Alpine":   "Alpine",
		"NAME=\"No such\"\n":   "",
		"XPRETTY_NAME=wrong\n": "",
	}
	for in, want := range tests {
		if got := prettyName(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestMissingTargets(t *testing.T) {
	tests := []struct{ targets, list, want string }{
		{"sm_90 sm_80", "sm_80 sm_90", ""},
		{"sm_121", "sm_80 sm_90", "sm_121"},
		{"sm_90a sm_100f sm_100a", "sm_90 sm_100", ""}, // suffixes are not in the list
		{"sm_90a", "sm_80", "sm_90a"},
		{"sm_90", "sm_90a", ""}, // should a later nvcc list them
		{"sm_90", "sm_900", "sm_90"},
		{"compute_121 compute_90", "sm_90", "compute_121"},
		{"sm_121 sm_90 sm_121 sm_75", "sm_90", "sm_121 sm_75"},
		{"sm_90", "", "sm_90"},
	}
	for _, tt := range tests {
		var targets []arch.Target
		for _, s := range strings.Fields(tt.targets) {
			target, err := arch.ParseTarget(s)
			if err != nil {
				t.Fatal(err)
			}
			targets = append(targets, target)
		}
		if got := strings.Join(MissingTargets(targets, strings.Fields(tt.list)), " "); got != tt.want {
			t.Errorf("%s of %s: missing %q, want %q", tt.targets, tt.list, got, tt.want)
		}
	}
}

func TestParseAnswerRefuses(t *testing.T) {
	tests := map[string]string{
		"":                                      "not the JSON expected",
		"{}":                                    "neither devices nor a failure",
		`{"driver":13000}`:                      "neither devices nor a failure",
		`{"driver":0,"devices":[]}`:             "neither devices nor a failure",
		`{"driver":13000,"devices":[]} 1`:       "more than one",
		`{"driver":13000,"devices":[],"new":1}`: "unknown field",
		strings.Replace(h200, `"index":0`, `"index":1`, 1):          "not credible",
		strings.Replace(h200, `"major":9`, `"major":0`, 1):          "not credible",
		strings.Replace(h200, "GPU-585e163f", "GPU-", 1):            "not credible",
		strings.Replace(h200, "NVIDIA H200", "", 1):                 "not credible",
		strings.Replace(h200, `13000`, `13000,"no_driver":true`, 1): "devices beside a failure",
	}
	for in, want := range tests {
		if a, err := parseAnswer([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want %q", in, a, err, want)
		}
	}
}

// A MIG instance is a device with a UUID of its own kind.
func TestParseMIG(t *testing.T) {
	a, err := parseAnswer([]byte(strings.Replace(h200, "GPU-585e163f", "MIG-585e163f", 1)))
	if err != nil || !strings.HasPrefix(a.list()[0].UUID, "MIG-585e163f") {
		t.Errorf("%+v, %v", a, err)
	}
}

// An error, or an answer that says either devices or why there are none.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(h200))
	f.Add([]byte(`{"no_driver":true}`))
	f.Add([]byte(`{"driver":13000,"failed":{"call":"cudaGetDeviceCount","error":100,"name":"a","text":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseAnswer(data)
		if err == nil && (len(a.list()) == 0) != (a.problem() != "") {
			t.Errorf("%d devices, problem %q", len(a.list()), a.problem())
		}
	})
}

func FuzzWithoutProcesses(f *testing.F) {
	f.Add("| GPU |\n\n+--+\n| Processes: |\n| secret |\n")
	f.Fuzz(func(t *testing.T, in string) {
		out := withoutProcesses(in)
		if !strings.HasPrefix(in, out) || strings.Contains(strings.ToLower(out), "processes") {
			t.Errorf("%q from %q", out, in)
		}
	})
}
