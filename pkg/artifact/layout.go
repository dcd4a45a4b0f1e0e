package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/artifact/image"
	"github.com/cudaproof/cudaproof/pkg/devicecode"

	spec "github.com/opencontainers/image-spec/specs-go/v1"
)

// IsLayout reports whether a path leads to the folder of an OCI image layout.
func IsLayout(path string) bool {
	info, err := os.Stat(filepath.Join(path, spec.ImageLayoutFile))
	return err == nil && info.Mode().IsRegular()
}

// openLayout reads the folder of an OCI image layout. Its hash is that of its
// index, which names everything else by digest.
func openLayout(path string, o devicecode.Options) (File, error) {
	f := File{Path: path, Format: ContainerImage}
	root, err := os.OpenRoot(path) // nothing in it leads out of the folder
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	files := &folder{root: root}
	defer files.release()
	index, err := files.get(spec.ImageIndexFile)
	if err != nil {
		return File{}, err
	}
	f.Size, f.SHA256 = int64(len(index)), hashBytes(index)
	err = devicecode.Unfaulted(func() error {
		i := inside{&f, o, archive.NewBudget(files.size())}
		w := i.walker("", 1)
		image.Walk(files.get, w)
		i.finish(w, "")
		return nil
	})
	return f, err
}

// folder maps the files of a folder, and keeps them mapped.
type folder struct {
	root   *os.Root
	mapped []func()
}

func (f *folder) get(name string) ([]byte, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &fs.PathError{Op: "open", Path: name, Err: filemap.ErrNotRegular})
	}
	b, release, err := filemap.Map(file)
	if err == nil {
		f.mapped = append(f.mapped, release)
	}
	return b, err
}

func (f *folder) release() {
	for _, release := range f.mapped {
		release()
	}
}

// size gives the bytes of all files together.
func (f *folder) size() int64 {
	var sum int64
	_ = fs.WalkDir(f.root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // whoever needs it will meet the error again
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
