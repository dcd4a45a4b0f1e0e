package execute

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// processes reads what the loader recorded of a run.
func (x *executor) processes(f folder) ([]record.Process, string) {
	seen, err := linkage.ReadRecord(f.path("loader"), loaderPrefix, x.manifest.Dir)
	if err != nil {
		return nil, err.Error()
	}
	if len(seen) == 0 {
		return nil, "the loader recorded no program: it is statically linked, its loader is not glibc's, or something took LD_DEBUG_OUTPUT away"
	}
	artifacts := x.artifactFiles()
	var processes []record.Process
	for _, p := range seen {
		processes = append(processes, x.process(p, artifacts))
	}
	return processes, ""
}

// join adds to the processes what only the trace saw: libraries that the loader's
// record lacks, and processes that it knows nothing of. It takes the libraries
// from the traced ones, and gives their programs the record's names.
func (x *executor) join(processes []record.Process, traced []record.TracedProcess) []record.Process {
	artifacts := x.artifactFiles()
	for n := range traced {
		t := &traced[n]
		libraries := slices.DeleteFunc(slices.Clone(t.Libraries), func(path string) bool { return !sharedLibrary(path) })
		add := x.process(linkage.Process{Program: t.Program, Libraries: libraries}, artifacts)
		t.Libraries, t.Program = nil, add.Program
		i := slices.IndexFunc(processes, func(p record.Process) bool { return p.Program == add.Program })
		if i < 0 {
			processes = append(processes, add)
			continue
		}
		p := &processes[i]
		for _, l := range add.Libraries {
			if !slices.Contains(p.Libraries, l) {
				p.Libraries = append(p.Libraries, l)
			}
		}
		p.Artifacts = append(p.Artifacts, add.Artifacts...)
		slices.Sort(p.Artifacts)
		p.Artifacts = slices.Compact(p.Artifacts)
		if p.Libcuda == "" {
			p.Libcuda = add.Libcuda
		}
		p.JITCompiler = p.JITCompiler || add.JITCompiler
	}
	return processes
}

// sharedLibrary tells the libraries among the files that a process maps, by name.
func sharedLibrary(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.") && !strings.HasSuffix(base, " (deleted)")
}

func (x *executor) process(p linkage.Process, artifacts []artifactFile) record.Process {
	r := record.Process{Program: x.name(p.Program)}
	for _, path := range append([]string{p.Program}, p.Libraries...) {
		r.Artifacts = append(r.Artifacts, matching(artifacts, path)...)
	}
	slices.Sort(r.Artifacts)
	r.Artifacts = slices.Compact(r.Artifacts)
	for _, lib := range p.Libraries {
		if linkage.Trace(lib) {
			continue // ours, and no part of the program
		}
		r.Libraries = append(r.Libraries, x.name(lib))
		base := filepath.Base(lib)
		if r.Libcuda == "" && strings.HasPrefix(base, "libcuda.so") {
			r.Libcuda = x.name(lib)
		}
		r.JITCompiler = r.JITCompiler || strings.HasPrefix(base, "libnvidia-ptxjitcompiler")
	}
	return r
}

// name is a path as the record has it. A relative one was not found and stays
// as the loader gave it.
func (x *executor) name(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	return x.manifest.Rel(path)
}

// artifactFile is an artifact by the identity of its file.
type artifactFile struct {
	path string // as in the record
	info os.FileInfo
}

// artifactFiles looks at the artifacts after a run, which may have replaced
// them.
func (x *executor) artifactFiles() []artifactFile {
	var files []artifactFile
	for _, a := range x.Artifacts {
		if info, err := os.Stat(x.manifest.Abs(a.Path)); err == nil {
			files = append(files, artifactFile{a.Path, info})
		}
	}
	return files
}

// matching gives the artifacts that a path leads to. A relative path was not
// resolved: it could be any file.
func matching(artifacts []artifactFile, path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	var paths []string
	for _, a := range artifacts {
		if os.SameFile(a.info, info) {
			paths = append(paths, a.path)
		}
	}
	return paths
}
