package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// maxRecord is the largest record that is read, in bytes: some hundred times
// that of a large library.
const maxRecord = 512 << 20

// List gives the paths of the bundles in the evidence folder dir, newest
// first. A folder that does not exist holds none.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() && bundleName.MatchString(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.Reverse(paths) // os.ReadDir sorts by name
	return paths, nil
}

// Newest gives the path of the newest bundle in the evidence folder dir.
func Newest(dir string) (string, error) {
	paths, err := List(dir)
	if err != nil {
		return "", err
	}
	if len(paths) == 0 {
		return "", fmt.Errorf("no bundle in %s: run verify first, or name a bundle", dir)
	}
	return paths[0], nil
}

// Read gives the record of the bundle at path. It accepts this edition of the
// record only, and nothing beside it.
func Read(path string) (*record.Record, error) {
	data, err := readRecord(filepath.Join(path, RecordName))
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", path, err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %s: %w", path, RecordName, err)
	}
	return r, nil
}

func readRecord(path string) ([]byte, error) {
	// Opening a named pipe would wait for a writer.
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s in it: name the folder of one bundle", RecordName)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", RecordName)
	}
	if info.Size() > maxRecord {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", RecordName, info.Size(), maxRecord)
	}
	return os.ReadFile(path)
}

func decode(data []byte) (*record.Record, error) {
	const advice = "the file was changed or cut off; verify again"
	var edition struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &edition); err != nil {
		return nil, fmt.Errorf("%w: %s", err, advice)
	}
	if edition.Format != record.Format {
		return nil, fmt.Errorf("found format %q, expected %q: use the cudaproof that wrote it, or verify again", edition.Format, record.Format)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var r record.Record
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("%w: %s", err, advice)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("found data after the record: %s", advice)
	}
	// Written again it must be the same: this refuses what the decoder lets
	// pass, such as a key given twice or in other letters.
	again, err := encode(&r)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, data) {
		return nil, fmt.Errorf("not as cudaproof writes it: %s", advice)
	}
	return &r, nil
}
