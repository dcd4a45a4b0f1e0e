package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
	"golang.org/x/sys/unix"
)

// Writer writes one bundle.
type Writer struct {
	parent string
	temp   string   // "" after Commit or Abort
	lock   *os.File // held as long as temp is ours
}

// Begin makes the evidence folder dir where it is missing, and in it a folder
// for a new bundle. Folders that dead runs left unfinished are removed.
func Begin(dir string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("evidence folder: %w", err)
	}
	if err := removeDead(dir); err != nil {
		return nil, fmt.Errorf("evidence folder: %w", err)
	}
	for range 10 {
		w, err := begin(dir)
		if !errors.Is(err, errTaken) {
			return w, err
		}
	}
	return nil, fmt.Errorf("evidence folder %s: another program keeps removing new folders", dir)
}

// errTaken says that a cleaner of another run was faster than our lock.
var errTaken = errors.New("taken")

func begin(dir string) (*Writer, error) {
	temp := filepath.Join(dir, tempPrefix+uniqueName())
	if err := os.Mkdir(temp, 0o755); err != nil {
		return nil, fmt.Errorf("evidence folder: %w", err)
	}
	lock, err := lockFolder(temp)
	if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, fmt.Errorf("evidence folder: %w", err)
	}
	if _, err := os.Stat(temp); err != nil {
		lock.Close()
		return nil, errTaken
	}
	return &Writer{parent: dir, temp: temp, lock: lock}, nil
}

func uniqueName() string {
	return fmt.Sprintf("%s-%08x", time.Now().UTC().Format(timeLayout), rand.Uint32())
}

// Dir is the folder for the bundle's files. Commit moves it.
func (w *Writer) Dir() string { return w.temp }

// Commit writes the record beside the files in Dir and moves all of it to its
// place in one step. It gives the bundle's path. After an error without a path
// nothing has been moved, and Abort removes what was written.
func (w *Writer) Commit(r *record.Record) (path string, err error) {
	if w.temp == "" {
		return "", errors.New("the bundle is already finished")
	}
	if r.Format != record.Format {
		return "", fmt.Errorf("the record has format %q, expected %q", r.Format, record.Format)
	}
	data, err := encode(r)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(w.temp, RecordName), data, 0o644); err != nil {
		return "", err
	}
	if err := syncTree(w.temp); err != nil {
		return "", err
	}
	path = filepath.Join(w.parent, uniqueName())
	if err := os.Rename(w.temp, path); err != nil {
		return "", err
	}
	w.temp = ""
	w.lock.Close()
	return path, syncFile(w.parent)
}

// Abort removes an unfinished bundle. After Commit it does nothing.
func (w *Writer) Abort() error {
	if w.temp == "" {
		return nil
	}
	err := os.RemoveAll(w.temp)
	w.temp = ""
	return errors.Join(err, w.lock.Close())
}

// encode gives a record the form it has on disk: the same bytes for the same
// record.
func encode(r *record.Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // kernel names are full of < and >
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return b.Bytes(), nil
}

// syncTree makes everything below dir survive a crash of the machine.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return syncFile(path)
	})
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		err = nil // some file systems cannot sync a folder
	}
	return errors.Join(err, f.Close())
}
