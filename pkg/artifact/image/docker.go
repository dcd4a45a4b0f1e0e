package image

import (
	"errors"
	"fmt"

	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
)

// dockerImage is an image of `docker save` (moby, "Docker Image Specification
// v1.2", "Combined Image JSON + Filesystem Changeset Format").
type dockerImage struct {
	Config string   `json:"Config"`
	Layers []string `json:"Layers"`
}

// docker reads what `docker save` writes. The layers have no digests of their
// own there: the image's configuration has those of the layers before
// compression.
func (r *reader) docker() {
	var images []dockerImage
	if err := read(r.get, dockerManifest, &images); err != nil {
		r.problem(err)
		return
	}
	for _, d := range images {
		if err := r.dockerImage(d); err != nil {
			r.problem(err)
		}
	}
}

func (r *reader) dockerImage(d dockerImage) error {
	var config spec.Image
	if err := read(r.get, d.Config, &config); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if len(config.RootFS.DiffIDs) != len(d.Layers) {
		return fmt.Errorf("%s names %d layers, the configuration has %d", dockerManifest, len(d.Layers), len(config.RootFS.DiffIDs))
	}
	i := image{name: platformName(config.Platform, spec.Descriptor{})}
	for n, name := range d.Layers {
		b, err := r.get(name)
		if err == nil && archive.FormatOf(b[:min(len(b), archive.HeadSize)]) == archive.Tar {
			err = checkDigest(name, b, config.RootFS.DiffIDs[n])
		}
		if err != nil {
			r.problem(fmt.Errorf("layer: %w", err))
			continue
		}
		i.layers = append(i.layers, layer{name, b})
	}
	r.images = append(r.images, i)
	if len(d.Layers) == 0 {
		return errors.New("the image has no layers")
	}
	return nil
}
