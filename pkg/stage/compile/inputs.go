package compile

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// inputs collects the files that builds read.
type inputs struct {
	m      *manifest.Manifest
	system []string // folders whose headers belong to the machine
	files  map[string]record.File
}

func newInputs(m *manifest.Manifest, nvcc string) *inputs {
	in := &inputs{m: m, system: []string{"/usr", "/opt"}, files: map[string]record.File{}}
	if program, err := filepath.EvalSymlinks(nvcc); err == nil {
		if toolkit := filepath.Dir(filepath.Dir(program)); toolkit != "/" {
			in.system = append(in.system, toolkit)
		}
	}
	return in
}

// isSystem reports whether a header belongs to the toolkit, the host compiler
// or the system. What lies in the manifest's folder never does.
func (in *inputs) isSystem(path string) bool {
	return !inside(in.m.Dir, path) && slices.ContainsFunc(in.system, func(dir string) bool { return inside(dir, path) })
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// snapshot is the state of the sources before a build.
type snapshot struct {
	taken   time.Time
	sources map[string]record.File // by name in the manifest
}

func (in *inputs) snapshot(units []unit) (snapshot, error) {
	s := snapshot{time.Now(), map[string]record.File{}}
	for _, u := range units {
		f, _, err := in.hash(in.m.Abs(u.source))
		if err != nil {
			return snapshot{}, failf("source: %v", err)
		}
		s.sources[u.source] = f
	}
	return s, nil
}

// add takes the sources of a finished build and the headers in their
// dependency files, and makes sure that none changed meanwhile.
func (in *inputs) add(units []unit, before snapshot) error {
	read := map[string]bool{}
	for _, u := range units {
		now, _, err := in.hash(in.m.Abs(u.source))
		if err != nil || now != before.sources[u.source] {
			return failf("%s changed while it was compiled: build again", u.source)
		}
		read[in.m.Abs(u.source)] = true
		if err := in.headers(u, read); err != nil {
			return err
		}
	}
	for path := range read {
		if err := in.addFile(path, before.taken); err != nil {
			return err
		}
	}
	return nil
}

// headers adds the headers that a compilation read to a set of paths.
func (in *inputs) headers(u unit, read map[string]bool) error {
	text, err := os.ReadFile(in.m.Abs(u.deps))
	if err != nil {
		return failf("nvcc's list of headers: %v", err)
	}
	files, err := parseDeps(string(text))
	if err != nil {
		return failf("nvcc's list of headers %s cannot be read: %v", u.deps, err)
	}
	for _, name := range files {
		if path := in.m.Abs(name); !in.isSystem(path) {
			read[path] = true
		}
	}
	return nil
}

func (in *inputs) addFile(path string, since time.Time) error {
	f, changed, err := in.hash(path)
	if err != nil {
		return failf("input of the build: %v", err)
	}
	known, seen := in.files[f.Path]
	// A time in the future tells nothing: the machine's clock was wrong.
	meanwhile := changed.After(since) && !changed.After(time.Now())
	if meanwhile || seen && known != f {
		return failf("%s changed during the build: build again", f.Path)
	}
	in.files[f.Path] = f
	return nil
}

// hash reads a file, and gives its time of change too.
func (in *inputs) hash(path string) (record.File, time.Time, error) {
	sum, size, err := artifact.HashFile(path)
	if err != nil {
		return record.File{}, time.Time{}, err
	}
	info, err := os.Stat(path) // afterwards, so that a change while it was read shows
	if err != nil {
		return record.File{}, time.Time{}, err
	}
	return record.File{Path: in.m.Rel(path), SHA256: sum, Size: size}, info.ModTime(), nil
}

func (in *inputs) sorted() []record.File {
	var list []record.File
	for _, f := range in.files {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b record.File) int { return cmp.Compare(a.Path, b.Path) })
	return list
}
