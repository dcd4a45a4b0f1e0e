package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	digest "github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
)

// Files gives a file of an image by its slash-separated name, fs.ErrNotExist
// where it is not there. The bytes are good as long as the image is read.
type Files func(name string) ([]byte, error)

// dockerManifest is the file that `docker save` describes an image by.
const dockerManifest = "manifest.json"

// Is reports whether files are those of an image.
func Is(get Files) bool {
	for _, name := range []string{spec.ImageLayoutFile, dockerManifest} {
		if _, err := get(name); err != nil {
			continue
		}
		if name == spec.ImageLayoutFile {
			return true
		}
		var images []dockerImage
		return read(get, dockerManifest, &images) == nil && len(images) > 0 && len(images[0].Layers) > 0
	}
	return false
}

// FromTar gives the files of an image in a tar that is not compressed. What is
// wrong with the tar is noted in w.
func FromTar(b []byte, w *archive.Walker) (Files, error) {
	files, links, err := w.Layout(b)
	return func(name string) ([]byte, error) {
		// `docker save` links equal layers.
		for range 8 {
			if content, ok := files[name]; ok {
				return content, nil
			}
			target, ok := links[name]
			if !ok {
				break
			}
			name = target
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}, err
}

// maxJSON bounds the documents that describe an image, in bytes.
const maxJSON = 16 << 20

func read(get Files, name string, v any) error {
	b, err := get(name)
	if err != nil {
		return err
	}
	return parse(name, b, v)
}

func parse(name string, b []byte, v any) error {
	if len(b) > maxJSON {
		return fmt.Errorf("%s has %d bytes, at most %d are read", name, len(b), maxJSON)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// blob gives what a descriptor names, which must have its size and digest.
func blob(get Files, d spec.Descriptor) ([]byte, error) {
	if err := d.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("digest %q: %w", d.Digest, err)
	}
	b, err := get(path.Join(spec.ImageBlobsDir, d.Digest.Algorithm().String(), d.Digest.Encoded()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s is missing", d.Digest)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(b)) != d.Size {
		return nil, fmt.Errorf("blob %s has %d bytes, its descriptor says %d", d.Digest, len(b), d.Size)
	}
	if got := d.Digest.Algorithm().FromBytes(b); got != d.Digest {
		return nil, fmt.Errorf("blob %s is damaged: its digest is %s", d.Digest, got)
	}
	return b, nil
}

// checkDigest compares bytes with a digest of `docker save`.
func checkDigest(what string, b []byte, want digest.Digest) error {
	if err := want.Validate(); err != nil {
		return fmt.Errorf("%s: digest %q: %w", what, want, err)
	}
	if got := want.Algorithm().FromBytes(b); got != want {
		return fmt.Errorf("%s is damaged: its digest is %s, want %s", what, got, want)
	}
	return nil
}
