package execute

import (
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// sameOutputs compares those outputs of an entry point that may differ within a
// tolerance: each mode's with what the first mode that passed wrote, on the same
// devices. Those that must be equal byte by byte are compared by their hashes.
type sameOutputs struct {
	manifest *manifest.Manifest
	dir      string // for folders
	mode     string // that passed first
	first    string // folder with its outputs, by their position in the manifest
	problem  error  // of keeping them
}

// compare compares what a run wrote. A run that did not pass is compared with
// nothing.
func (s *sameOutputs) compare(e manifest.EntryPoint, r record.Run) []record.Comparison {
	if !allOK(r.Checks) {
		return nil
	}
	if s.mode == "" {
		s.mode = r.Mode
		s.problem = s.keep(e)
		return nil
	}
	var list []record.Comparison
	for n, o := range e.Expect.SameAcrossModes {
		if !o.Tolerant {
			continue
		}
		c := record.Comparison{Output: o.Path, With: s.mode, Want: "the same" + o.Tolerance.String()}
		difference, err := "", s.problem
		if err == nil {
			difference, err = withinTolerance(s.manifest.Abs(o.Path), filepath.Join(s.first, strconv.Itoa(n)), o.Tolerance)
		}
		switch {
		case err != nil:
			c.Got = err.Error()
		case difference != "":
			c.Got = difference
		default:
			c.Got, c.OK = "the same", true
		}
		list = append(list, c)
	}
	return list
}

// keep copies the outputs, which the next run overwrites.
func (s *sameOutputs) keep(e manifest.EntryPoint) (err error) {
	for n, o := range e.Expect.SameAcrossModes {
		if !o.Tolerant {
			continue
		}
		if s.first == "" {
			if s.first, err = os.MkdirTemp(s.dir, "outputs-"); err != nil {
				return err
			}
		}
		if err := copyFile(filepath.Join(s.first, strconv.Itoa(n)), s.manifest.Abs(o.Path)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sameOutputs) clean() {
	if s != nil && s.first != "" {
		_ = os.RemoveAll(s.first) // what stays is named by no record
	}
}

func copyFile(to, from string) error {
	in, err := filemap.OpenRegular(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
