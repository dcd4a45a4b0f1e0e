package ptx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

const head = ".version 7.8\n.target sm_80\n.address_size 64\n"

func target(number int, suffix arch.Suffix) arch.Target {
	return arch.Target{Class: arch.Compute, Number: number, Suffix: suffix}
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Module
	}{
		{"nothing", head, Module{7, 8, target(80, ""), nil, nil, 0, 0}},
		{"suffix and options", ".version 9.0 .target sm_120f, debug, texmode_independent .address_size 64", Module{9, 0, target(120, "f"), nil, nil, 0, 0}},
		{"virtual target", ".version 8.0\n.target compute_90a\n", Module{8, 0, target(90, "a"), nil, nil, 0, 0}},
		{"kernels", head + ".visible .entry a(.param .u64 p)\n{ ret; }\n.weak .entry b()\n.maxntid 32, 1, 1\n{ { ret; } }\n.entry c { ret; }", Module{7, 8, target(80, ""), []string{"a", "b", "c"}, nil, 0, 0}},
		{"kernel declared only", head + ".visible .entry a(.param .u64 p);", Module{7, 8, target(80, ""), nil, nil, 0, 0}},
		{"functions", head + ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b)\n;\n.visible .func (.param .b32 r) f() { ret; }\n.func g() .noreturn { trap; }", Module{7, 8, target(80, ""), nil, nil, 2, 0}},
		{"variables", head + ".visible .const .align 4 .b8 c[4] = {1, 2, 3, 4};\n.global .align 4 .u32 d;\n.extern .global .u32 e;\n.extern .shared .align 16 .b8 s[];\n.visible .global .attribute(.managed) .u32 m;", Module{7, 8, target(80, ""), nil, nil, 0, 3}},
		{"address space of a parameter", head + ".entry a(.param .u64 .ptr .global .align 4 p) { ret; }", Module{7, 8, target(80, ""), []string{"a"}, nil, 0, 0}},
		{"comments", "// .version 1.0\n/* .target sm_10 { */\n" + head + "// .entry x() {\n/* .entry y() { */", Module{7, 8, target(80, ""), nil, nil, 0, 0}},
		{"strings", head + `.file 1 ".entry x() { \" /* "` + "\n.entry a() { .pragma \"}\"; ret; }", Module{7, 8, target(80, ""), []string{"a"}, nil, 0, 0}},
		{"debug section", head + ".section .debug_info { .b32 1 .b8 .entry }\n.entry a() { ret; }", Module{7, 8, target(80, ""), []string{"a"}, nil, 0, 0}},
		{"up to NUL", head + ".entry a() { ret; }\x00.entry b() {", Module{7, 8, target(80, ""), []string{"a"}, nil, 0, 0}},
		{"carriage returns", strings.ReplaceAll(head, "\n", "\r\n") + ".entry a()\r\n{ ret; }\r\n", Module{7, 8, target(80, ""), []string{"a"}, nil, 0, 0}},
	} {
		got, err := Read([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, diff)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "without .version",
		".target sm_80":                    "without .version",
		".version 7.8":                     "without .target",
		".version x":                       "want a number such as 9.0",
		".version 7":                       "want a number such as 9.0",
		".version 0.1":                     "want a number such as 9.0",
		".version":                         "want a number such as 9.0",
		".version 7.8 .target 80":          "want sm_NN or compute_NN",
		".version 7.8 .target lto_80":      "want sm_NN or compute_NN",
		head + head:                        "second .version",
		head + ".target sm_90":             "second .target",
		head + "/* no end":                 "comment that begins at offset 0x2c",
		head + `.file 1 "no end`:           "string that begins at offset 0x34",
		head + `.file 1 "\`:                "string that begins",
		head + ".entry a() { ret;":         "brace that opens at offset 0x37 is not closed",
		head + ".entry a() { ret; } }":     "was not opened",
		head + ".entry a(":                 "ends within a statement",
		head + ".entry a()":                "ends within a statement",
		head + ".entry":                    "want a name",
		head + ".entry (":                  "want a name",
		head + ")":                         "was not opened",
		head + ".entry a(; { ret; }":       "within parentheses",
		head + ".global .u32 x":            "ends within a statement",
		head + ".extern":                   "ends within a statement",
		head + ".entry a() { /* } ret; }":  "comment that begins",
		head + ".entry a() { \"} ret; }\n": "string that begins",
	} {
		if m, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want the error %q", text, m, err, want)
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		head:                 true,
		"//\n// x\n" + head:  true,
		"":                   false,
		"/* .version 7.8":    false,
		".versions 7.8":      false,
		"see .version 7.8\n": false,
	} {
		if got := Is([]byte(text)); got != want {
			t.Errorf("Is(%q) = %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		head:                   true,
		".version 7.8":         false,
		".version of .target":  false,
		".version %s .target ": false,
	} {
		if got := Begins([]byte(text)); got != want {
			t.Errorf("Begins(%q) = %v", text, got)
		}
	}
}

// FuzzRead wants an error or a module with a version and a target.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + ".entry a(.param .u64 .ptr .global p) { ret; }"))
	f.Add([]byte("// x\n" + head + ".const .b8 c[2] = {1, 2};\n.func (.param .b32 r) f() { /* } */ .pragma \"}\"; }"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(b)
		if (m == nil) == (err == nil) {
			t.Fatalf("module %v, error %v", m, err)
		}
		if m != nil && (m.Major == 0 || m.Target == (arch.Target{})) {
			t.Fatalf("module %+v", m)
		}
		embedded, size, err := ReadEmbedded(b)
		if (embedded == nil) == (err == nil) || size > len(b) {
			t.Fatalf("embedded module %v of %d bytes, error %v", embedded, size, err)
		}
		if again, _, err := ReadEmbedded(b[:size]); embedded != nil && (err != nil || len(again.Kernels) != len(embedded.Kernels)) {
			t.Fatalf("the %d bytes of the embedded module read as %v, %v", size, again, err)
		}
	})
}

// TestReadEmbedded wants the text alone, whatever follows it.
func TestReadEmbedded(t *testing.T) {
	const kernel = ".visible .entry a(.param .u64 p)\n{ ret; }"
	for _, test := range []struct{ name, text, rest string }{
		{"nothing", head + kernel, ""},
		{"NUL", head + kernel + "\n\n", "\x00.version"},
		{"the next string, as Rust keeps it", head + kernel + "\n\n", "called `Option::unwrap()` on a `None` value\" {"},
		{"word without blank", head + kernel, "src/main.rs"},
		{"number", head + kernel, "12"},
		{"an open string", head + kernel, "\" and no end"},
		{"braces", head + kernel, "{}"},
		{"binary", head + kernel, "\x01\xff}{\""},
		{"next module", head + kernel + "\n", head + kernel},
		{"directives", head + ".file 1 \"k.cu\"\n.global .u32 x;\n.extern .func f(.param .b32 p)\n;\n" + kernel, "unwrap"},
		{"target with options", ".version 9.0\n.target sm_90, debug\n.address_size 64\n" + kernel, "unwrap"},
	} {
		m, size, err := ReadEmbedded([]byte(test.text + test.rest))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if want := len(strings.TrimRight(test.text, "\n")); size != want || len(m.Kernels) != 1 || m.Kernels[0] != "a" {
			t.Errorf("%s: %d bytes with kernels %q, want %d with a", test.name, size, m.Kernels, want)
		}
	}
	if _, size, err := ReadEmbedded([]byte(head + ".entry a() { ret;")); err == nil || size != len(head)+17 {
		t.Errorf("an open body: %d bytes, error %v", size, err)
	}
}
