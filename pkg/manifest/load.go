package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxSize is far above any manifest written by hand, in bytes.
const maxSize = 1 << 20

// Load reads and checks the manifest at path. The error is an [Errors].
func Load(path string) (*Manifest, error) {
	data, err := read(path)
	if err != nil {
		return nil, Errors{{Path: path, Text: err.Error()}}
	}
	return Parse(data, path)
}

func read(path string) ([]byte, error) {
	// Opening a named pipe would wait for a writer.
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("no such file: write a manifest there, or name another")
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file: name the manifest itself")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSize+1))
}

// Parse checks the manifest in data. The path says where it lies, or would
// lie: paths in it are relative to that folder, and the files it names must be
// there. The error is an [Errors].
func Parse(data []byte, path string) (*Manifest, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, Errors{{Path: path, Text: err.Error()}}
	}
	// The loader and git name files by the real path of the folder.
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	sum := sha256.Sum256(data)
	d := &decoder{path: path, m: &Manifest{
		Path: abs, Dir: filepath.Dir(abs), SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)),
	}}
	if root := d.parse(data); root != nil {
		d.manifest(root)
	}
	if len(d.errs) > 0 {
		slices.SortFunc(d.errs, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Text, b.Text))
		})
		return nil, d.errs
	}
	return d.m, nil
}

// parse gives the root of the only YAML document in data, nil after an error.
func (d *decoder) parse(data []byte) *yaml.Node {
	if len(data) > maxSize {
		d.errorAt(0, 0, "found more than %d bytes, expected a manifest", maxSize)
		return nil
	}
	if line, column, ok := invalidUTF8(data); ok {
		d.errorAt(line, column, "found a byte that is not UTF-8, expected UTF-8 text")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		d.errorAt(1, 1, `found an empty file, expected a manifest that begins with "version: 1"`)
		return nil
	}
	if err != nil {
		d.syntax(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		d.errorf(&second, "found a second YAML document, expected one")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	}
	d.refuseReferences(&doc)
	return doc.Content[0]
}

// The YAML library gives the line in the text of its errors, or none for the
// first line. Its parser, unlike its scanner, counts lines from 0; when it
// misses something in a block or bracket, it gives the line where that began.
var (
	syntaxError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
	parserError = regexp.MustCompile(`^(did not find expected (key|'-' indicator|',' or|node content|<)|found (undefined|duplicate|incompatible))`)
	// quoteHint matches what a glob without quotes gives inside brackets.
	quoteHint  = regexp.MustCompile(`^did not find expected (alphabetic or numeric character|',' or)`)
	blockError = regexp.MustCompile(`^did not find expected (key|'-' indicator|',' or)`)
)

func (d *decoder) syntax(err error) {
	line, text, where := 1, err.Error(), ""
	if m := syntaxError.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
			if parserError.MatchString(text) {
				line++
			}
		}
	}
	if blockError.MatchString(text) {
		where = " on this line or in what begins on it"
	}
	if quoteHint.MatchString(text) {
		text += `; text with any of * ? [ ] { } , & ! in it must be in quotes, as in ["src/*.cu"]`
	}
	d.errorAt(line, 0, "not valid YAML%s: %s", where, text)
}

// invalidUTF8 gives the position of the first byte that is not UTF-8.
func invalidUTF8(data []byte) (line, column int, found bool) {
	line, column = 1, 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			return line, column, true
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		data = data[n:]
	}
	return 0, 0, false
}
