package e2e

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// publish makes this repository a published module for the script: a file
// proxy of its own holds it as v0.1.0, and a module cache of its own keeps that
// apart. Other modules come from the machine's cache or proxy, as ever.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: publish")
	}
	version := module.Version{Path: "github.com/cudaproof/cudaproof", Version: "v0.1.0"}
	repo := ts.Getenv("REPO")
	proxy := ts.MkAbs("../proxy")
	dir := filepath.Join(proxy, version.Path, "@v")
	ts.Check(os.MkdirAll(dir, 0o755))
	write := func(name, content string) {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	ts.Check(err)
	write("list", version.Version+"\n")
	write(version.Version+".info", `{"Version":"v0.1.0","Time":"2026-12-01T00:00:00Z"}`)
	write(version.Version+".mod", string(mod))
	f, err := os.Create(filepath.Join(dir, version.Version+".zip"))
	ts.Check(err)
	ts.Check(zip.CreateFromDir(f, version, repo))
	ts.Check(f.Close())

	known := filepath.Join(ts.Getenv("GOMODCACHE"), "cache", "download")
	ts.Setenv("GOPROXY", "file://"+proxy+",file://"+known+","+ts.Getenv("GOPROXY"))
	ts.Setenv("GONOSUMDB", "github.com/cudaproof/*")
	ts.Setenv("GOMODCACHE", ts.MkAbs("../modcache"))
	// Read-only folders of the module cache would outlive the script.
	ts.Setenv("GOFLAGS", "-modcacherw")
}
