package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/google/go-cmp/cmp"
)

// needGit skips the test where git is missing, and keeps the caller's
// configuration and repository out of it.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not in PATH")
	}
	for _, name := range repositoryVariables {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
	} {
		t.Setenv(name, value)
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func writeFile(t *testing.T, parts ...string) {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("text of "+filepath.Base(path)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository gives a work tree with one commit, and that commit.
func repository(t *testing.T) (dir, commit string) {
	t.Helper()
	needGit(t)
	dir = t.TempDir()
	run(t, dir, "init", "--quiet")
	for _, name := range []string{"top.cu", "sub/a.cu", "sub/b.cu", "cudaproof.yaml", "sub/cudaproof.yaml", "sub/.cudaproof/recorded/record.json"} {
		writeFile(t, dir, name)
	}
	run(t, dir, "add", ".")
	run(t, dir, "commit", "--quiet", "-m", "first")
	return dir, run(t, dir, "rev-parse", "HEAD")
}

func in(dir string) *manifest.Manifest {
	return &manifest.Manifest{
		Path:     filepath.Join(dir, "cudaproof.yaml"),
		Dir:      dir,
		Evidence: manifest.Evidence{Dir: ".cudaproof"},
		Build: []manifest.Build{
			{Name: "app", Kind: manifest.Executable, Output: "build/app"},
			{Name: "ext", Kind: manifest.External},
		},
		EntryPoints: []manifest.EntryPoint{{
			Expect: manifest.Expect{Files: map[string]manifest.Golden{"out.txt": {Path: "golden.txt"}}, SameAcrossModes: []manifest.Output{{Path: "out.bin"}}},
		}},
	}
}

func check(t *testing.T, dir string, want record.Source) {
	t.Helper()
	if diff := cmp.Diff(want, Identify(context.Background(), in(dir), nil)); diff != "" {
		t.Error(diff)
	}
}

func TestClean(t *testing.T) {
	dir, commit := repository(t)
	check(t, filepath.Join(dir, "sub"), record.Source{Commit: commit})
	check(t, dir, record.Source{Commit: commit})
}

func TestChanged(t *testing.T) {
	dir, commit := repository(t)
	writeFile(t, dir, "other/new file.cu")
	writeFile(t, dir, "sub", "new", "n.cu")
	writeFile(t, dir, "sub", "naïve\n.cu")
	writeFile(t, dir, "submarine.cu") // begins as the folder's name does
	writeFile(t, dir, "sub", "build", "app2")
	run(t, dir, "mv", "sub/b.cu", "sub/c.cu")
	if err := os.WriteFile(filepath.Join(dir, "sub", "a.cu"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "top.cu")); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "sub"), record.Source{Commit: commit, Changed: []string{
		":/other/new file.cu", ":/submarine.cu", ":/top.cu",
		"a.cu", "b.cu", "build/app2", "c.cu", "naïve\n.cu", "new/n.cu",
	}})
}

// What a verification writes does not make a tree dirty, tracked or not.
func TestProducts(t *testing.T) {
	dir, commit := repository(t)
	sub := filepath.Join(dir, "sub")
	for _, name := range []string{
		".cudaproof/20260101T000000.000Z-00000000/record.json", "build/app", "build/.app.objects/0-a.o", "out.txt", "out.bin",
	} {
		writeFile(t, sub, name)
	}
	if err := os.WriteFile(filepath.Join(sub, ".cudaproof", "recorded", "record.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, sub, record.Source{Commit: commit})
	// From above, the same names are files like any other.
	writeFile(t, dir, "sub", "more.cu")
	got := Identify(context.Background(), in(dir), nil).Changed
	if len(got) != 7 {
		t.Errorf("changed seen from above: %q, want 7 files", got)
	}
}

func TestNoCommit(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	run(t, dir, "init", "--quiet")
	writeFile(t, dir, "a.cu")
	writeFile(t, dir, "cudaproof.yaml")
	got := Identify(context.Background(), in(dir), nil)
	if got.Commit != "" || !cmp.Equal(got.Changed, []string{"a.cu", "cudaproof.yaml"}) || !strings.HasPrefix(got.Problem, "no commit is checked out: ") {
		t.Errorf("got %+v", got)
	}
}

func TestNoWorkTree(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	got := Identify(context.Background(), in(dir), nil)
	if got.Commit != "" || got.Changed != nil || !strings.Contains(got.Problem, "not a git repository") {
		t.Errorf("outside a repository: %+v", got)
	}
	run(t, dir, "init", "--quiet", "--bare")
	got = Identify(context.Background(), in(dir), nil)
	if got.Commit != "" || !strings.Contains(got.Problem, "work tree") {
		t.Errorf("in a bare repository: %+v", got)
	}
}

func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	inputs := []record.File{{Path: "b.cu"}, {Path: "a.cu"}}
	got := Identify(context.Background(), in(t.TempDir()), inputs)
	want := record.Source{Problem: "git: not found in PATH", Inputs: []record.File{{Path: "a.cu"}, {Path: "b.cu"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStopped(t *testing.T) {
	dir, _ := repository(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := Identify(ctx, in(dir), nil); got.Commit != "" || got.Problem != "git: stopped: context canceled" {
		t.Errorf("got %+v", got)
	}
}

// A commit does not identify files that git ignores: a project in an ignored
// folder is not clean, nor is a build that reads an ignored header.
func TestIgnored(t *testing.T) {
	dir, commit := repository(t)
	writeFile(t, dir, "ignored", "cudaproof.yaml")
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("ignored\n*.h\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "ignored"), record.Source{Commit: commit, Changed: []string{"cudaproof.yaml"}})

	inputs := []record.File{{Path: "/usr/share/x.h"}, {Path: "[a].h"}, {Path: "a.cu"}}
	for n := range 2 * maxArguments {
		inputs = append(inputs, record.File{Path: fmt.Sprintf("g%05d.h", n)})
	}
	got := Identify(context.Background(), in(filepath.Join(dir, "sub")), inputs).Changed
	if want := 1 + 2*maxArguments; len(got) != want || got[0] != "[a].h" {
		t.Errorf("%d changed files, the first %q, want %d", len(got), got[0], want)
	}
}

// Git runs its hooks with variables that name the hook's repository.
func TestInHook(t *testing.T) {
	dir, commit := repository(t)
	other, _ := repository(t)
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", ".git/index.lock")
	t.Setenv("GIT_PREFIX", "sub/")
	check(t, filepath.Join(dir, "sub"), record.Source{Commit: commit})
}

func TestLinkedWorkTree(t *testing.T) {
	dir, commit := repository(t)
	tree := filepath.Join(t.TempDir(), "tree")
	run(t, dir, "worktree", "add", "--quiet", "--detach", tree)
	writeFile(t, tree, "sub", "new.cu")
	check(t, filepath.Join(tree, "sub"), record.Source{Commit: commit, Changed: []string{"new.cu"}})
}

func TestSubmodule(t *testing.T) {
	library, commit := repository(t)
	dir, _ := repository(t)
	run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
	run(t, dir, "commit", "--quiet", "-m", "library")
	check(t, filepath.Join(dir, "lib"), record.Source{Commit: commit})
	inputs := []record.File{{Path: "lib/top.cu"}}
	if got := Identify(context.Background(), in(dir), inputs); len(got.Changed) > 0 {
		t.Errorf("a file of a submodule counts as changed: %q", got.Changed)
	}

	writeFile(t, dir, "lib", "new.cu")
	check(t, filepath.Join(dir, "lib"), record.Source{Commit: commit, Changed: []string{"new.cu"}})
	run(t, dir, "config", "submodule.lib.ignore", "all")
	check(t, dir, record.Source{Commit: run(t, dir, "rev-parse", "HEAD"), Changed: []string{"lib"}})
}

func TestThroughSymbolicLink(t *testing.T) {
	dir, commit := repository(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "sub"), link); err != nil {
		t.Fatal(err)
	}
	writeFile(t, link, "new.cu")
	check(t, link, record.Source{Commit: commit, Changed: []string{"new.cu"}})
}

// Asking runs no program of the repository's configuration and writes nothing.
func TestLeavesRepositoryAlone(t *testing.T) {
	dir, commit := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "monitor")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\ntouch '%s'\n", ran), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "config", "core.fsmonitor", script)
	run(t, dir, "config", "core.pager", script)
	// The same content at another time: the index is out of date.
	if err := os.Chtimes(filepath.Join(dir, "sub", "a.cu"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "sub"), record.Source{Commit: commit})
	after, err := os.ReadFile(index)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the index was written: %v", err)
	}
	if _, err := os.Stat(ran); !os.IsNotExist(err) {
		t.Errorf("a program of the configuration was run: %v", err)
	}
}

func TestManyChanges(t *testing.T) {
	var status strings.Builder
	for n := range maxChanged + 5 {
		fmt.Fprintf(&status, "?? f%05d\x00", n)
	}
	got := capped(changed(status.String(), "", nil))
	if len(got) != maxChanged+1 || got[maxChanged] != "(and 5 more)" || got[0] != "f00000" {
		t.Errorf("%d files, the last %q", len(got), got[len(got)-1])
	}
}

func FuzzChanged(f *testing.F) {
	f.Add("?? a.cu\x00 M sub/b.cu\x00D  sub/build/app\x00", "sub/")
	f.Add("??", "")
	f.Fuzz(func(t *testing.T, status, prefix string) {
		for _, path := range changed(status, prefix, []string{"build/app"}) {
			if path == "build/app" {
				t.Errorf("product listed: %q", path)
			}
		}
	})
}
