package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// project gives a folder with the files that the manifests of the tests name.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"src/a.cu", "src/b.cu", "golden/out.txt", ".cudaproof/old.cu"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mistakes parses a manifest and gives its errors, one per line, with the
// path of the manifest cut off and that of its folder replaced.
func mistakes(t *testing.T, yaml string) []string {
	t.Helper()
	dir := project(t)
	path := filepath.Join(dir, "cudaproof.yaml")
	m, err := Parse([]byte(yaml), path)
	if (m == nil) == (err == nil) {
		t.Fatalf("Parse = %v, %v: want one of the two", m, err)
	}
	if err == nil {
		return nil
	}
	var list Errors
	if !errors.As(err, &list) {
		t.Fatalf("error of type %T", err)
	}
	text := strings.ReplaceAll(err.Error(), path+":", "")
	return strings.Split(strings.ReplaceAll(text, dir, "DIR"), "\n")
}

// head is a manifest of three lines to which the cases add keys.
const head = "version: 1\nproject: p\nartifacts: [{path: a.so}]\n"

func build(keys string) string {
	return head + "build:\n- name: b\n  kind: shared\n  sources: [src/a.cu]\n  output: out/b.so\n" + indent(keys)
}

func entry(keys string) string {
	return head + "entry_points:\n- name: e\n  command: [./e]\n" + indent(keys)
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" }

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		want       []string
	}{
		{"none", head, nil},

		// The file.
		{"empty", "", []string{`1:1: found an empty file, expected a manifest that begins with "version: 1"`}},
		{"comment only", "# nothing\n", []string{`1:1: found an empty file, expected a manifest that begins with "version: 1"`}},
		{"not UTF-8", "version: 1\nproject: caf\xe9\n", []string{"2:13: found a byte that is not UTF-8, expected UTF-8 text"}},
		{"tab", "version: 1\nrequire:\n\tnative: [sm_90]\n", []string{"3: not valid YAML: found character that cannot start any token"}},
		{"open bracket", head + "build: [\n", []string{"5: not valid YAML: did not find expected node content"}},
		{"two values", "version: 1\nproject: a: b\n", []string{"2: not valid YAML: mapping values are not allowed in this context"}},
		{"first line", "a: b: c\n", []string{"1: not valid YAML: mapping values are not allowed in this context"}},
		{"wrong indent", "version: 1\nrequire:\n  ptx: [compute_90]\n native: [sm_90]\n", []string{
			"4: not valid YAML on this line or in what begins on it: did not find expected key",
		}},
		{"open list", "version: 1\nproject: p\nbuild: [a,\nartifacts: [{path: a.so}]\n", []string{
			`3: not valid YAML on this line or in what begins on it: did not find expected ',' or ']'; text with any of * ? [ ] { } , & ! in it must be in quotes, as in ["src/*.cu"]`,
		}},
		{"undefined tag handle", "version: 1\nproject: !x!y z\n", []string{"2: not valid YAML: found undefined tag handle"}},
		{"second document", head + "---\n" + head, []string{"4:1: found a second YAML document, expected one"}},
		{"broken second document", head + "---\n]", []string{"5: not valid YAML: did not find expected node content"}},
		{"scalar", "hello", []string{`1:1: the manifest: found "hello", expected a mapping with the keys version, project, toolkit, require, build, artifacts, third_party, entry_points, evidence`}},
		{"alias", "version: 1\nproject: &p x\nartifacts: [{path: *p}]\n", []string{
			`2:10: found the anchor "&p", expected none: aliases are not supported`,
			`3:20: found the alias "*p", expected the value written out`,
		}},
		{"tag", "version: 1\nproject: !!str 5\nartifacts: [{path: a}]\n", []string{`2:10: found the tag "!!str", expected none`}},

		// Keys.
		{"version 2", "version: 2\nnew_key: 1\n", []string{"1:10: version: found the number 2, expected 1, the only version this cudaproof reads"}},
		{"version text", "version: \"1\"\n", []string{`1:10: version: found "1", expected 1, the only version this cudaproof reads`}},
		{"nothing required", "evidence: {dir: e}\n", []string{
			`1:1: the manifest: the key "artifacts" is missing`,
			`1:1: the manifest: the key "project" is missing`,
			`1:1: the manifest: the key "version" is missing`,
		}},
		{"near key", head + "thirdparty: []\n", []string{`4:1: the manifest: unknown key "thirdparty": did you mean "third_party"?`}},
		{"far key", head + "toolkit: {cuda: x}\n", []string{
			`4:10: toolkit: the key "nvcc" is missing`,
			`4:11: toolkit: unknown key "cuda": expected one of nvcc`,
		}},
		{"hostile key", head + "\"\\e[31m::error::\": 1\n", []string{
			`4:1: the manifest: unknown key "\x1b[31m::error::": expected one of version, project, toolkit, require, build, artifacts, third_party, entry_points, evidence`,
		}},
		{"merge key", head + "<<: {project: q}\n", []string{
			`4:1: the manifest: unknown key "<<": expected one of version, project, toolkit, require, build, artifacts, third_party, entry_points, evidence`,
		}},
		{"duplicate key", head + "project: q\n", []string{`4:1: the manifest: duplicate key "project": the first is on line 2`}},
		{"null", head + "toolkit:\n", []string{"4:9: toolkit: found nothing, expected a mapping with the keys nvcc"}},
		{"project number", "version: 1\nproject: 1.10\nartifacts: [{path: a}]\n", []string{`2:10: project: found the number 1.10, expected text: write "1.10" in quotes`}},
		{"project of two lines", "version: 1\nproject: \"a\\nb\"\nartifacts: [{path: a}]\n", []string{`2:10: project: found "a\nb", expected one line without control characters`}},
		{"blank project", "version: 1\nproject: ' '\nartifacts: [{path: a}]\n", []string{`2:10: project: found " ", expected text that is not blank`}},

		// Not supported yet, each by its name.
		{"min_driver", head + "require:\n  min_driver: {cuda: \"580\"}\n", []string{`5:22: require.min_driver.cuda: found "580", expected a CUDA version such as "13.0" under cuda, a driver such as "580" under branch`}},
		{"min_driver as a number", head + "require:\n  min_driver: {cuda: 13.0}\n", []string{`5:22: require.min_driver.cuda: found the number 13.0, expected text: write "13.0" in quotes`}},
		{"min_driver of Jetson", head + "require:\n  min_driver: {branch: \"540.4.0\"}\n", []string{`5:24: require.min_driver.branch: driver "540.4.0": which CUDA version branch 540 supports is not known here: give that version, such as 13.5, as nvidia-smi or cuDriverGetVersion says it`}},
		{"min_driver that dropped a device", head + "require:\n  devices: [\"7.0\", \"9.0\"]\n  min_driver: {branch: \"590\"}\n", []string{`6:15: require.min_driver: found a driver of CUDA 13.1 (590), expected one not newer than CUDA 13.0, the last that knows devices of capability 7.0: correct it, or leave 7.0 out of require.devices`}},
		{"min_driver twice", head + "require:\n  min_driver: {branch: \"550\", cuda: \"12.4\"}\n", []string{`5:15: require.min_driver: found 2 keys, expected exactly one of cuda, branch`}},
		{"without", "version: 1\nproject: p\nrequire: {devices: [\"9.0\"]}\nartifacts:\n- path: a\n  kernels:\n    without:\n    - {name: k, glob: k, devices: [\"9.0\"], reason: r}\n    - {glob: k, devices: [\"8.0\"], reason: r}\n    - {glob: k, devices: [device]}\n", []string{
			"8:7: artifacts.kernels.without: found 2 of the keys name, glob, mangled, expected exactly one",
			`9:27: artifacts.kernels.without.devices: found "8.0", expected a device of require.devices`,
			`10:7: artifacts.kernels.without: the key "reason" is missing`,
			`10:27: artifacts.kernels.without.devices: found "device", expected a capability such as "9.0"`,
		}},
		{"compile_commands", build("compile_commands: x.json"), []string{"9:21: build.compile_commands is not supported yet: leave it out"}},
		{"libraries", "version: 1\nproject: p\nartifacts:\n- {path: a, libraries: needed}\n- {path: b, libraries: none}\n- {path: c, libraries: all}\n", []string{
			"4:24: artifacts.libraries: needed is not supported yet: leave it out for loaded",
			"5:24: artifacts.libraries: none is not supported yet: leave it out for loaded",
			`6:24: artifacts.libraries: found "all", expected loaded`,
		}},
		{"archive", "version: 1\nproject: p\nartifacts: [{path: \"dist/*.whl!**/*.so\"}]\n", []string{
			`3:20: artifacts.path: found "dist/*.whl!**/*.so": files inside archives (archive!path) are not supported yet: name the file itself`,
		}},
		{"devices wrong", entry("devices: first"), []string{`7:12: entry_points.devices: found "first", expected each, one-per-capability, all or {count: N}`}},
		{"devices count", entry("devices: {count: 0}"), []string{`7:20: entry_points.devices.count: found the number 0, expected at least 1`}},
		{"regex", entry("expect: {stdout: [{regex: \"(\"}]}"), []string{
			"7:29: entry_points.expect.stdout.regex: found \"(\", expected a regular expression (RE2 syntax): error parsing regexp: missing closing ): `(`",
		}},
		{"outputs twice", entry("expect: {same_across_modes: [o, {path: o, rtol: -1}]}"), []string{
			`7:35: entry_points.expect.same_across_modes: found a mapping twice: the first is on line 7`,
			`7:51: entry_points.expect.same_across_modes.rtol: found the number -1, expected a number of at least 0, such as 1e-5`,
		}},
		{"no_gpu", entry("no_gpu: r\ndevices: all\nkernels: [k]"), []string{
			"8:12: entry_points.devices: found together with no_gpu, expected one of them: without a GPU the entry point is run once, as shipped",
			"9:12: entry_points.kernels: found together with no_gpu, expected one of them: without a GPU the entry point is run once, as shipped",
		}},
		{"min_launched", "version: 1\nproject: p\nartifacts: [{path: b.so, kernels: {min_launched: 101}}, {path: c.so, kernels: {}}]\n", []string{
			"3:50: artifacts.kernels.min_launched: found the number 101, expected a number from 0 to 100",
			"3:79: artifacts.kernels: found no key, expected require, min_launched or without",
		}},
		{"kernels without a trace", entry("kernels: [k]\nno_trace: why"), []string{"8:13: entry_points.no_trace: found together with kernels, expected one of them: only a trace shows what is launched"}},
		{"no reason", entry("no_trace: ''"), []string{`7:13: entry_points.no_trace: found "", expected text that is not blank`}},
		{"kernels launched", entry("kernels: [k, k]"), []string{`7:16: entry_points.kernels: found "k" twice: the first is on line 7`}},
		{"keep and sign", head + "evidence: {keep: [ptx], sign: {key: k}}\n", []string{
			"4:18: evidence.keep is not supported yet: leave it out",
			"4:31: evidence.sign is not supported yet: leave it out",
		}},

		// require.
		{"require.devices", head + "require: {devices: [9.0, sm_90, \"9.0\", \"9.0\"]}\n", []string{
			`4:21: require.devices: found the number 9.0, expected text: write "9.0" in quotes`,
			`4:26: require.devices: found "sm_90", expected a capability such as "9.0", or device`,
			`4:40: require.devices: found "9.0" twice: the first is on line 4`,
		}},
		{"require.devices empty", head + "require: {devices: []}\n", []string{
			`4:20: require.devices: found an empty list, expected a list of capabilities such as "9.0"`,
		}},
		{"require targets", head + "require:\n  native: [compute_90, sm_x, sm_90, sm_90]\n  ptx: [sm_90a]\n", []string{
			`5:12: require.native: found "compute_90", expected a target of class sm, such as sm_90`,
			`5:24: require.native: found "sm_x", expected a target such as sm_90, sm_90a or compute_90`,
			`5:37: require.native: found "sm_90" twice: the first is on line 5`,
			`6:9: require.ptx: found "sm_90a", expected a target of class compute, such as compute_90a`,
		}},
		{"require.host", head + "require: {host: [arm64, riscv64]}\n", []string{
			"4:18: require.host: found \"arm64\", expected \"aarch64\", as `uname -m` says it",
			`4:25: require.host: found "riscv64", expected x86_64 or aarch64`,
		}},

		// build.
		{"build kinds", head + "build:\n- {name: a, kind: shared}\n- {name: b, kind: external, sources: [src/a.cu], output: o}\n- {name: c, kind: lib}\n", []string{
			`5:3: build: the key "output" is missing: kind shared needs it`,
			`5:3: build: the key "sources" is missing: kind shared needs it`,
			`6:3: build: the key "command" is missing: kind external needs it`,
			`6:38: build.sources: found with kind external, expected without: leave it out or change the kind`,
			`6:58: build.output: found with kind external, expected without: leave it out or change the kind`,
			`7:19: build.kind: found "lib", expected executable, shared, static or external`,
		}},
		{"build.command", build("command: [make]"), []string{
			"9:12: build.command: found with kind shared, expected without: leave it out or change the kind",
		}},
		{"build names", head + "build:\n- {name: ../x, kind: external, command: [a]}\n- {name: x, kind: external, command: [a]}\n- {name: x, kind: external, command: [\"\"]}\n", []string{
			`5:10: build.name: found "../x", expected at most 100 letters, digits, '.', '_' and '-', not beginning with '.' or '-'`,
			`7:10: build.name: found "x" twice: the first is on line 6`,
			"7:39: build.command: found an empty program, expected its name or path",
		}},
		{"build.sources", head + "build:\n- name: b\n  kind: static\n  output: b.a\n  sources: [src/*.cpp, src, ../*.cu, 'src/[', src/a.cu]\n", []string{
			`8:13: build.sources: no file matches "src/*.cpp" below "DIR": expected at least one`,
			`8:24: build.sources: "src" is not a regular file`,
			`8:29: build.sources: the glob "../*.cu" leaves the manifest's folder: expected a glob below it, or a path without wildcards`,
			`8:38: build.sources: "src/[" is not a valid glob: expected closed brackets and braces`,
		}},
		{"build.flags", build("flags: [-arch=sm_90, -o, x, -Xcompiler, -c, --gpu-code=sm_80, -rdc=true, -dc, -I, inc, --options-file=f]"), []string{
			`9:11: build.flags: found "-arch=sm_90", expected it in the manifest: state the targets in gencode`,
			`9:24: build.flags: found "-o", expected it in the manifest: state the file in output`,
			`9:47: build.flags: found "--gpu-code=sm_80", expected it in the manifest: state the targets in gencode`,
			`9:65: build.flags: found "-rdc=true", expected it in the manifest: state it in rdc`,
			`9:76: build.flags: found "-dc", expected it in the manifest: state it in rdc`,
			`9:90: build.flags: found "--options-file=f", expected it in the manifest: write the options out in flags`,
		}},
		{"build.rdc", build("rdc: yes"), []string{`9:8: build.rdc: found "yes", expected true or false`}},
		{"gencode", build("gencode:\n- {arch: sm_90, code: [sm_90]}\n- {arch: compute_90, code: [sm_80, compute_80, sm_90a, sm_90]}\n- {arch: compute_80, code: [sm_90, lto_86]}\n- {arch: compute_90a, code: [sm_90, sm_100a]}\n- {arch: compute_120, code: []}\n- {code: [sm_75]}"), []string{
			`10:12: build.gencode.arch: found "sm_90", expected a target of class compute, such as compute_90`,
			"11:31: build.gencode.code: found sm_80 from compute_90, expected a target not below its arch",
			"11:38: build.gencode.code: found compute_80 from compute_90, expected compute_90: only the PTX of arch itself can be kept",
			"11:50: build.gencode.code: found sm_90a from compute_90, expected code and arch with the same suffix: the source would be compiled without, or marked without, the features that the suffix stands for, and kernels guarded by them trap: write arch: compute_90a",
			`11:58: build.gencode.code: found "sm_90" twice: the first is on line 10`,
			`12:31: build.gencode.code: found "sm_90" twice: the first is on line 10`,
			`13:32: build.gencode.code: found "sm_90" twice: the first is on line 10`,
			"13:39: build.gencode.code: found sm_100a from compute_90a, expected the same number: suffix a binds code to one capability",
			"14:31: build.gencode.code: found an empty list, expected a list of targets such as sm_90 and compute_90",
			`15:5: build.gencode: the key "arch" is missing`,
		}},
		{"outputs", head + "build:\n- {name: a, kind: shared, sources: [src/a.cu], output: ../a.so}\n- {name: b, kind: shared, sources: [src/a.cu], output: /tmp/a.so}\n- {name: c, kind: shared, sources: [src/a.cu], output: src/../src/b.cu}\n- {name: d, kind: shared, sources: [src/b.cu], output: o/d}\n- {name: e, kind: shared, sources: [src/b.cu], output: ./o/d}\n- {name: f, kind: shared, sources: [src/b.cu], output: cudaproof.yaml}\n- {name: g, kind: shared, sources: [src/b.cu], output: .}\n- {name: h, kind: shared, sources: [.cudaproof/old.cu], output: .cudaproof}\n", []string{
			`5:56: build.output: found "../a.so", expected a relative path below the manifest's folder`,
			`6:56: build.output: found "/tmp/a.so", expected a relative path below the manifest's folder`,
			`7:56: build.output: found "src/b.cu", which is also a source: it would be overwritten`,
			`9:56: build.output: found "./o/d" twice: the first is on line 8`,
			`10:56: build.output: found "cudaproof.yaml", which is also a manifest: it would be overwritten`,
			`11:56: build.output: found ".", expected a relative path below the manifest's folder`,
			`12:37: build.sources: found ".cudaproof/old.cu", which overlaps the evidence folder ".cudaproof": expected it elsewhere`,
			`12:65: build.output: found ".cudaproof", which overlaps the evidence folder ".cudaproof": expected it elsewhere`,
		}},

		// artifacts and third_party.
		{"no artifacts", "version: 1\nproject: p\nartifacts: []\n", []string{
			"3:12: artifacts: found an empty list, expected a list of mappings {path: ...}",
		}},
		{"artifact paths", "version: 1\nproject: p\nartifacts:\n- {path: a}\n- {path: ./a}\n- {path: /x/*.so}\n- {path: '{a,{b,{c,{d,{e,f}}}}}'}\n- {path: .cudaproof/x}\n- {path: ../lib/a.so}\n- {path: /x/../lib.so}\n- {path: /lib.so}\n", []string{
			`5:10: artifacts.path: found "./a" twice: the first is on line 4`,
			`6:10: artifacts.path: the glob "/x/*.so" leaves the manifest's folder: expected a glob below it, or a path without wildcards`,
			`7:10: artifacts.path: the glob "{a,{b,{c,{d,{e,f}}}}}" is too complex: expected at most 4 brace groups, 32 alternatives and 4 times **`,
			`8:10: artifacts.path: found ".cudaproof/x", which overlaps the evidence folder ".cudaproof": expected it elsewhere`,
			`11:10: artifacts.path: found "/lib.so" twice: the first is on line 10`,
		}},
		{"kernels", "version: 1\nproject: p\nartifacts:\n- path: a\n  kernels:\n    require:\n    - {name: k, glob: k}\n    - {}\n    - {glob: '[k'}\n    - k\n    - {name: k}\n    - {name: k}\n", []string{
			"7:7: artifacts.kernels.require: found 2 of the keys name, glob, mangled, expected exactly one",
			"8:7: artifacts.kernels.require: found 0 of the keys name, glob, mangled, expected exactly one",
			`9:14: artifacts.kernels.require.glob: found "[k", expected a valid pattern: *, ?, [...], and \ before a literal *`,
			`10:7: artifacts.kernels.require: found "k", expected a mapping with the keys name, glob, mangled`,
			"12:7: artifacts.kernels.require: found a mapping twice: the first is on line 11",
		}},
		{"third_party", head + "third_party:\n- {match: lib/x.so, reason: r}\n- {match: 'lib[', reason: r}\n- {match: '*', reason: r}\n- {match: a}\n- {match: a, reason: ''}\n", []string{
			`5:11: third_party.match: found "lib/x.so", expected a pattern of the file's base name, without slashes`,
			`6:11: third_party.match: found "lib[", expected a valid pattern: *, ?, [...]`,
			`7:11: third_party.match: found "*", expected a part of a library's name: this would excuse every library`,
			`8:3: third_party: the key "reason" is missing`,
			`9:11: third_party.match: found "a" twice: the first is on line 8`,
			`9:22: third_party.reason: found "", expected text that is not blank`,
		}},

		// entry_points.
		{"command", head + "entry_points: [{name: e, command: ./e --all}, {name: f, command: [./f, 5]}]\n", []string{
			`4:35: entry_points.command: found "./e --all", expected a list of a program and its arguments`,
			`4:72: entry_points.command: found the number 5, expected text: write "5" in quotes`,
		}},
		{"modes left out", entry("modes: [native]"), []string{"7:10: entry_points.modes: ptx and as-shipped left out, expected modes_reason to say why"}},
		{"reason for nothing", entry("modes_reason: because"), []string{"7:17: entry_points.modes_reason: found a reason, expected none: no mode is left out"}},
		{"modes wrong", entry("modes: [native, jit, native]"), []string{
			`7:19: entry_points.modes: found "jit", expected native, ptx or as-shipped`,
			`7:24: entry_points.modes: found "native" twice: the first is on line 7`,
		}},
		{"timeout", entry("timeout: 60"), []string{"7:12: entry_points.timeout: found the number 60, expected a time above zero, such as 90s or 5m"}},
		{"timeout zero", entry("timeout: 0s"), []string{`7:12: entry_points.timeout: found "0s", expected a time above zero, such as 90s or 5m`}},
		{"expect.exit", entry("expect: {exit: 256}"), []string{"7:18: entry_points.expect.exit: found the number 256, expected a number from 0 to 255"}},
		{"expect.stdout", entry("expect: {stdout: [\"a\\nb\", PASS, PASS, \"a\\tb\"]}"), []string{
			`7:21: entry_points.expect.stdout: found "a\nb", expected one line per item`,
			`7:35: entry_points.expect.stdout: found "PASS" twice: the first is on line 7`,
		}},
		{"tolerance", entry("expect:\n  files:\n    o: {golden: golden/out.txt, rtol: -1, atol: x, equal_nan: 1}\n    p: {rtol: 1e-5}"), []string{
			`9:41: entry_points.expect.files.rtol: found the number -1, expected a number of at least 0, such as 1e-5`,
			`9:51: entry_points.expect.files.atol: found "x", expected a number of at least 0, such as 1e-5`,
			`9:65: entry_points.expect.files.equal_nan: found the number 1, expected true or false`,
			`10:10: entry_points.expect.files: the key "golden" is missing`,
		}},
		{"expect.files", entry("expect:\n  files:\n    /tmp/x: golden/out.txt\n    golden/out.txt: golden/out.txt\n    src/a.cu: golden/none\n    5: golden\n    o: golden/out.txt\n    o: golden/out.txt\n    ./o: golden/out.txt"), []string{
			`9:7: entry_points.expect.files: found "/tmp/x", expected a relative path below the manifest's folder`,
			`10:7: entry_points.expect.files: found "golden/out.txt", which is also a golden file: it would be overwritten`,
			`11:17: entry_points.expect.files: the golden file "golden/none" does not exist below "DIR"`,
			`12:7: entry_points.expect.files: found the number 5, expected text: write "5" in quotes`,
			`12:10: entry_points.expect.files: "golden" is not a regular file`,
			`14:7: entry_points.expect.files: found "o" twice: the first is on line 13`,
			`15:7: entry_points.expect.files: found "./o" twice: the first is on line 13`,
		}},
		{"outputs of runs", entry("expect: {same_across_modes: [a.so, out/b]}") + "build: [{name: b, kind: shared, sources: [src/a.cu], output: out/b}]\n", []string{
			`7:32: entry_points.expect.same_across_modes: found "a.so", which the artifact on line 3 matches: expected a file that is not verified`,
			`7:38: entry_points.expect.same_across_modes: found "out/b", which is the output of the build on line 8`,
		}},
		{"one mode to compare", entry("modes: [ptx]\nmodes_reason: r\nexpect: {same_across_modes: [o]}"), []string{
			"9:11: entry_points.expect.same_across_modes: found with one mode, expected at least two modes to compare",
		}},
		{"evidence.dir", head + "evidence: {dir: ..}\n", []string{`4:17: evidence.dir: found "..", expected a relative path below the manifest's folder`}},
		{"evidence.dir in an output", build("") + "evidence: {dir: out/b.so/e}\n", []string{
			`8:11: build.output: found "out/b.so", which overlaps the evidence folder "out/b.so/e": expected it elsewhere`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, mistakes(t, tc.yaml)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All mistakes are reported in one run.
func TestManyMistakes(t *testing.T) {
	const yaml = `version: 1
projekt: saxpy
require: {native: [sm_9000000]}
build:
  - {name: a, kind: shared, sources: [nothing/*.cu], output: a.so, flags: [-arch=native]}
artifacts: [{path: a.so}]
entry_points: [{name: e, command: [./e], timeout: soon}]
`
	want := []string{
		`1:1: the manifest: the key "project" is missing`,
		`2:1: the manifest: unknown key "projekt": did you mean "project"?`,
		`3:20: require.native: found "sm_9000000", expected a target such as sm_90, sm_90a or compute_90`,
		`5:39: build.sources: no file matches "nothing/*.cu" below "DIR": expected at least one`,
		`5:76: build.flags: found "-arch=native", expected it in the manifest: state the targets in gencode`,
		`7:51: entry_points.timeout: found "soon", expected a time above zero, such as 90s or 5m`,
	}
	if diff := cmp.Diff(want, mistakes(t, yaml)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, []byte(strings.Repeat("#", maxSize+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none.yaml")
	for path, want := range map[string]string{
		none:  none + ": no such file: write a manifest there, or name another",
		dir:   dir + ": not a regular file: name the manifest itself",
		large: large + ": found more than 1048576 bytes, expected a manifest",
	} {
		m, err := Load(path)
		if m != nil || err == nil || err.Error() != want {
			t.Errorf("Load(%s) = %v, %v, want error %q", path, m, err, want)
		}
	}
}
