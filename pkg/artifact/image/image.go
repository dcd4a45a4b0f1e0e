package image

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
)

// The media types of docker, which differ from those of the OCI in name only
// (distribution, "Image Manifest Version 2, Schema 2").
const (
	dockerIndex = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerImg   = "application/vnd.docker.distribution.manifest.v2+json"
	dockerLayer = "application/vnd.docker.image.rootfs.diff.tar"
)

// image is one image of a layout.
type image struct {
	name   string // platform, or digest where that is not told
	layers []layer
}

// layer is one layer, the lowest first.
type layer struct {
	name  string
	bytes []byte
}

// Walk gives the files of the images to w, flattened. Where there are several
// images their names begin with the platform: "linux/arm64!usr/lib/libx.so".
func Walk(get Files, w *archive.Walker) {
	r := reader{get: get}
	_, err := get(spec.ImageLayoutFile)
	switch {
	case err == nil:
		r.layout()
	case errors.Is(err, fs.ErrNotExist):
		r.docker()
	default:
		r.problem(err)
	}
	w.Problems = append(w.Problems, r.problems...)
	for n, i := range r.images {
		prefix := ""
		if len(r.images) > 1 {
			prefix = i.name + "!"
			if r.named(i.name) > 1 {
				prefix = fmt.Sprintf("%s (image %d)!", i.name, n+1)
			}
		}
		flatten(i.layers, prefix, w)
	}
	if len(r.images) == 0 && len(r.problems) == 0 {
		w.Problems = append(w.Problems, archive.Problem{Text: "there is no image in it"})
	}
}

// reader finds the images and their layers.
type reader struct {
	get      Files
	images   []image
	problems []archive.Problem
}

func (r *reader) problem(err error) {
	r.problems = append(r.problems, archive.Problem{Text: err.Error()})
}

func (r *reader) named(name string) int {
	n := 0
	for _, i := range r.images {
		if i.name == name {
			n++
		}
	}
	return n
}

// layout reads an OCI image layout.
func (r *reader) layout() {
	var index spec.Index
	if err := read(r.get, spec.ImageIndexFile, &index); err != nil {
		r.problem(err)
		return
	}
	r.index(index, 1)
}

// maxDepth bounds how many indexes lie one in another.
const maxDepth = 4

func (r *reader) index(index spec.Index, depth int) {
	if depth > maxDepth {
		r.problem(fmt.Errorf("more than %d image indexes one in another", maxDepth))
		return
	}
	for _, d := range index.Manifests {
		if d.Annotations["vnd.docker.reference.type"] == "attestation-manifest" {
			continue // of BuildKit: about another image, without files
		}
		if err := r.manifest(d, depth); err != nil {
			r.problem(err)
		}
	}
}

func (r *reader) manifest(d spec.Descriptor, depth int) error {
	b, err := blob(r.get, d)
	if err != nil {
		return err
	}
	switch d.MediaType {
	case spec.MediaTypeImageIndex, dockerIndex:
		var index spec.Index
		if err := parse(d.Digest.String(), b, &index); err != nil {
			return err
		}
		r.index(index, depth+1)
		return nil
	case spec.MediaTypeImageManifest, dockerImg:
		var m spec.Manifest
		if err := parse(d.Digest.String(), b, &m); err != nil {
			return err
		}
		return r.image(d, m)
	}
	return fmt.Errorf("manifest %s of type %q is not read", d.Digest, d.MediaType)
}

// image takes the layers of an image. Where one cannot be read the others still
// count, as far as they can be told.
func (r *reader) image(d spec.Descriptor, m spec.Manifest) error {
	platform := d.Platform
	if platform == nil {
		var config spec.Image
		b, err := blob(r.get, m.Config)
		if err != nil {
			return err
		}
		if err := parse(m.Config.Digest.String(), b, &config); err != nil {
			return err
		}
		platform = &config.Platform
	}
	i := image{name: platformName(*platform, d)}
	for _, l := range m.Layers {
		if !isLayer(l.MediaType) {
			r.problem(fmt.Errorf("layer %s of type %q is not read", l.Digest, l.MediaType))
			continue
		}
		b, err := blob(r.get, l)
		if err != nil {
			r.problem(fmt.Errorf("layer: %w", err))
			continue
		}
		i.layers = append(i.layers, layer{l.Digest.String(), b})
	}
	r.images = append(r.images, i)
	return nil
}

func platformName(p spec.Platform, d spec.Descriptor) string {
	if p.OS == "" || p.Architecture == "" {
		return d.Digest.String()
	}
	name := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		name += "/" + p.Variant
	}
	return name
}

// isLayer knows the layers whose content is there: those that must not be
// distributed may be missing.
func isLayer(mediaType string) bool {
	base, compression, _ := strings.Cut(mediaType, "+")
	if base, ok := strings.CutSuffix(mediaType, ".gzip"); ok && base == dockerLayer {
		return true
	}
	return base == dockerLayer && compression == "" || base == spec.MediaTypeImageLayer && (compression == "" || compression == "gzip" || compression == "zstd")
}
