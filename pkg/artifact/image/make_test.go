package image

import (
	"archive/tar"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	digest "github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive/archivetest"
)

// layerOf makes a layer of "name=content" for files, "name/" for folders,
// "name->target" for symbolic and "name=>target" for hard links.
func layerOf(entries ...string) []byte {
	var headers []tar.Header
	var contents []string
	for _, e := range entries {
		h := tar.Header{Name: e, Typeflag: tar.TypeDir, Mode: 0o755}
		if name, target, ok := strings.Cut(e, "=>"); ok {
			h = tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: target}
		} else if name, target, ok := strings.Cut(e, "->"); ok {
			h = tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
		} else if name, text, ok := strings.Cut(e, "="); ok {
			h = tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text))}
			contents = append(contents, text)
		}
		headers = append(headers, h)
	}
	return archivetest.Tar(headers, contents...)
}

// store is an image layout being made, or one that is read.
type store map[string][]byte

func (s store) get(name string) ([]byte, error) {
	if b, ok := s[name]; ok {
		return b, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (s store) add(mediaType string, b []byte) spec.Descriptor {
	d := digest.FromBytes(b)
	s[path.Join("blobs", "sha256", d.Encoded())] = b
	return spec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(b))}
}

func (s store) json(mediaType string, v any) spec.Descriptor {
	return s.add(mediaType, archivetest.Must(json.Marshal(v)))
}

// image adds an image whose layers are compressed in every way in turn.
func (s store) image(arch string, layers ...[]byte) spec.Descriptor {
	m := spec.Manifest{MediaType: spec.MediaTypeImageManifest, Config: s.json(spec.MediaTypeImageConfig, spec.Image{Platform: spec.Platform{OS: "linux", Architecture: arch}})}
	for n, l := range layers {
		switch n % 3 {
		case 0:
			m.Layers = append(m.Layers, s.add(spec.MediaTypeImageLayer, l))
		case 1:
			m.Layers = append(m.Layers, s.add(spec.MediaTypeImageLayerGzip, archivetest.Gzip(l)))
		case 2:
			m.Layers = append(m.Layers, s.add(spec.MediaTypeImageLayerZstd, archivetest.Must(zstd.NewWriter(nil)).EncodeAll(l, nil)))
		}
	}
	return s.json(spec.MediaTypeImageManifest, m)
}

func (s store) layout(manifests ...spec.Descriptor) store {
	s["oci-layout"] = []byte(`{"imageLayoutVersion": "1.0.0"}`)
	s["index.json"] = archivetest.Must(json.Marshal(spec.Index{MediaType: spec.MediaTypeImageIndex, Manifests: manifests}))
	return s
}

// dockerSaved makes what `docker save` wrote before it wrote a layout too.
func dockerSaved(layers ...[]byte) store {
	s := store{}
	var i dockerImage
	config := spec.Image{Platform: spec.Platform{OS: "linux", Architecture: "amd64"}}
	for _, l := range layers {
		d := digest.FromBytes(l)
		name := d.Encoded() + "/layer.tar"
		s[name] = l
		i.Layers = append(i.Layers, name)
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, d)
	}
	b := archivetest.Must(json.Marshal(config))
	i.Config = digest.FromBytes(b).Encoded() + ".json"
	s[i.Config] = b
	s["manifest.json"] = archivetest.Must(json.Marshal([]dockerImage{i}))
	return s
}

// tar gives the files as a tar.
func (s store) tar() []byte {
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entries = append(entries, name+"="+string(s[name]))
	}
	return layerOf(entries...)
}
