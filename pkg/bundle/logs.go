package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// CheckLogs compares the logs in the bundle at path with those that its record
// names. It gives a sentence per log that is missing, lies outside the bundle
// or has another content; none means that all are as recorded.
func CheckLogs(path string, r *record.Record) []string {
	root, err := os.OpenRoot(path)
	if err != nil {
		return []string{fmt.Sprintf("bundle %s: %v", path, err)}
	}
	defer root.Close()
	var problems []string
	for _, run := range r.Runs {
		for _, stream := range []struct {
			name string
			log  record.Log
		}{{"stdout", run.Stdout}, {"stderr", run.Stderr}, {"driver log", run.DriverLog}} {
			if err := checkLog(root, stream.log); err != nil {
				problems = append(problems, fmt.Sprintf("%s of run %q: %v", stream.name, run.ID, err))
			}
		}
	}
	return problems
}

func checkLog(root *os.Root, l record.Log) error {
	if l.File == "" {
		if l.SHA256 != "" || l.Size != 0 {
			return fmt.Errorf("the record gives %d bytes but no file", l.Size)
		}
		return nil
	}
	info, err := root.Lstat(l.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the file %q is missing", l.File)
	case err != nil:
		return fmt.Errorf("the file %q cannot be read: %w", l.File, cause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a regular file", l.File)
	case info.Size() != l.Size:
		return fmt.Errorf("the file %q has %d bytes, the record says %d", l.File, info.Size(), l.Size)
	}
	sum, err := hash(root, l.File)
	if err != nil {
		return fmt.Errorf("the file %q cannot be read: %w", l.File, cause(err))
	}
	if sum != l.SHA256 {
		return fmt.Errorf("the file %q has the SHA-256 %s, the record says %q", l.File, sum, l.SHA256)
	}
	return nil
}

// cause leaves out the name, which an error of the system gives unescaped.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func hash(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
