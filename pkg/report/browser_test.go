package report

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// browser gives a headless Chromium, which must be there where the toolkit must.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
		t.Fatal("chromium is required")
	}
	t.Skip("no chromium here")
	return ""
}

// open opens a page that is cut off from all networks and gives its document when
// the scripts have run; options are Chromium's.
func open(t *testing.T, program, page string, options ...string) string {
	t.Helper()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
		"--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000"}, options...)
	out, err := exec.Command(program, append(args, "file://"+page)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return string(out)
}

func save(t *testing.T, write func(io.Writer) error, script string) string {
	t.Helper()
	text := string(written(t, write))
	if script != "" {
		text = strings.Replace(text, "</body>", "<script>"+script+"</script></body>", 1)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// manyKernels is a file with a hundred thousand kernels in a thousand modules of
// six kinds.
func manyKernels(t *testing.T) artifact.File {
	f := artifact.File{Path: "build/large.so", Format: artifact.SharedLibrary, SHA256: strings.Repeat("0", 64), Objects: []artifact.Object{{}}}
	sets := [][]string{{"sm_80", "sm_90"}, {"sm_80", "compute_80"}, {"sm_90a"}, {"compute_75"}, {"sm_120f"}, {"sm_87"}}
	for n := range 1000 {
		c := devicecode.Container{Section: ".nv_fatbin", Offset: int64(n) * 0x1000, Role: devicecode.WholeProgram}
		for _, name := range sets[n%len(sets)] {
			target, err := arch.ParseTarget(name)
			if err != nil {
				t.Fatal(err)
			}
			i := devicecode.Image{Kind: devicecode.Cubin, Target: target, Toolkit: "13.0"}
			if target.Class == arch.Compute {
				i.Kind, i.PTXVersion, i.Toolkit = devicecode.PTX, "8.4", ""
			}
			for k := range 100 {
				name := fmt.Sprintf("gemm<float, %d, %d>", n, k)
				i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: name, Name: name})
			}
			c.Images = append(c.Images, i)
		}
		f.Objects[0].Code.Containers = append(f.Objects[0].Code.Containers, c)
	}
	return f
}

// The matrix opens, is filtered and drilled into, with a hundred thousand kernels in
// it, and at once.
func TestBrowser(t *testing.T) {
	program := browser(t)
	matrix := coverage.NewMatrix(arch.Known(), arch.Driver{})
	matrix.AddFile(manyKernels(t))
	matrix.Sort()
	c := recordedCases(t)[0]
	c.o.Matrix = matrix
	page := save(t, func(w io.Writer) error { return HTML(w, c.record, c.result, c.o, nil) }, `
const say = [], shown = () => Array.from(document.querySelectorAll("#grid tbody")).filter(b => !b.hidden).length;
const set = (id, value, event) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event(event)); };
const start = performance.now();
say.push(shown());
set("search", "GEMM<float, 7, 3>", "input"); say.push(shown());
set("search", "nothing of that name", "input"); say.push(shown());
set("search", "", "input"); set("rows", "none", "change"); say.push(shown());
set("rows", "native", "change"); say.push(shown());
set("rows", "", "change");
const button = document.querySelector("#grid button"), detail = document.getElementById(button.getAttribute("aria-controls"));
say.push(detail.hidden, button.getAttribute("aria-expanded")); button.focus(); button.click();
say.push(detail.hidden, button.getAttribute("aria-expanded"), document.activeElement === button, performance.now() - start < 2000);
document.title = say.join(" ");`)
	if info, err := os.Stat(page); err != nil || info.Size() > 16<<20 {
		t.Errorf("the page has %d bytes", info.Size())
	}
	start := time.Now()
	document := open(t, program, page, "--dump-dom")
	title := regexp.MustCompile(`<title>([^<]*)</title>`).FindStringSubmatch(document)
	const want = "6 1 0 6 0 true false false true true true"
	if title == nil || title[1] != want {
		t.Errorf("got %q, want %q", title, want)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Every text is readable on what is behind it, in light and dark (WCAG 2.2, 1.4.3:
// 4.5 to 1), nothing is wider than a phone, and what is pressed has a name.
func TestAccessible(t *testing.T) {
	program := browser(t)
	const script = `
const channel = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const rgb = s => s.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
const bad = [];
for (const d of document.querySelectorAll("details")) d.open = true;
for (const e of document.querySelectorAll("main *")) {
  const text = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim());
  if (!text || !e.getClientRects().length) continue;
  const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(e.tagName + "." + e.className + " " + ratio.toFixed(2));
}
for (const e of document.querySelectorAll("button, input, select")) {
  if (!(e.textContent.trim() || e.labels && e.labels.length)) bad.push("no name: " + e.outerHTML);
  if (e.tabIndex < 0) bad.push("not reached by keyboard: " + e.outerHTML);
}
if (document.documentElement.scrollWidth > innerWidth) bad.push("wider than the screen: " + document.documentElement.scrollWidth + " of " + innerWidth);
if (!document.documentElement.lang) bad.push("no language");
bad.push(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.title = bad.join("; ");`
	for _, c := range recordedCases(t) {
		if c.name != "no_gencode" && c.name != "sm90_ptx90" {
			continue
		}
		page := save(t, func(w io.Writer) error {
			return HTML(w, c.record, c.result, c.o, &Previous{"earlier", c.record, c.result})
		}, script)
		for scheme, options := range map[string][]string{
			"light": {"--window-size=500,900"},
			"dark":  {"--window-size=1280,900", "--blink-settings=preferredColorScheme=0"},
		} {
			document := open(t, program, page, append(options, "--dump-dom")...)
			title := regexp.MustCompile(`<title>([^<]*)</title>`).FindStringSubmatch(document)
			if title == nil || title[1] != scheme {
				t.Errorf("%s, %s: %v", c.name, scheme, title)
			}
		}
	}
}
