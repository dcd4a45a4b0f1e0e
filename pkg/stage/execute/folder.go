package execute

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folder is the part of the bundle that belongs to one run.
type folder struct {
	bundle string // absolute
	name   string // relative to the bundle, slash-separated
}

// loaderPrefix begins the names of the loader's files in loader/.
const loaderPrefix = "ld"

// newFolder makes runs/<name> in the bundle with an empty cache/ and loader/.
func newFolder(bundle, name string) (folder, error) {
	bundle, err := filepath.Abs(bundle)
	if err != nil {
		return folder{}, err
	}
	f := folder{bundle: bundle, name: "runs/" + name}
	if err := os.MkdirAll(filepath.Join(bundle, "runs"), 0o755); err != nil {
		return f, err
	}
	for _, dir := range []string{f.path(), f.path("cache"), f.path("loader")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f folder) path(elem ...string) string {
	return filepath.Join(append([]string{f.bundle, filepath.FromSlash(f.name)}, elem...)...)
}

// cacheFiles counts the files over 0 bytes in the run's CUDA_CACHE_PATH.
func (f folder) cacheFiles() int {
	n := 0
	// What cannot be read cannot be counted; the count is a hint, never proof.
	_ = filepath.WalkDir(f.path("cache"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() > 0 {
			n++
		}
		return nil
	})
	return n
}

// clean removes the cache, and what is empty.
func (f folder) clean() {
	// A program may have taken away the right to delete; what then stays is
	// named by no record.
	_ = os.RemoveAll(f.path("cache"))
	_ = os.Remove(f.path("loader"))
	_ = os.Remove(f.path())
}
