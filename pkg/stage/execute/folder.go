package execute

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/stage/tool"
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
	for _, dir := range []string{f.path(), f.path("cache"), f.path("loader"), f.path("trace"), f.path(warmFolder)} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f folder) path(elem ...string) string {
	return filepath.Join(append([]string{f.bundle, filepath.FromSlash(f.name)}, elem...)...)
}

// named gives the value of a variable as the record has it: paths in the bundle
// and in the user's folders without what is before them.
func (f folder) named(value string) string {
	if inside, ok := strings.CutPrefix(value, f.bundle+"/"); ok {
		return "<bundle>/" + inside
	}
	return tool.MaskHome(value)
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

// clean removes the cache, the trace, which is in the record, what the warm run
// wrote, and what is empty.
func (f folder) clean() {
	// A program may have taken away the right to delete; what then stays is
	// named by no record.
	_ = os.RemoveAll(f.path("cache"))
	_ = os.RemoveAll(f.path("trace"))
	_ = os.RemoveAll(f.path(warmFolder))
	_ = os.Remove(f.path("loader"))
	_ = os.Remove(f.path())
}
