// Package image reads container images: OCI image layouts, OCI archives, which
// are tars of such a layout, and what `docker save` writes.
//
// The layers are flattened as a container sees them (OCI image specification,
// "Image Layer Filesystem Changeset"): a file of an upper layer, a whiteout or an
// opaque whiteout hides what the layers below have there. Links are not followed;
// one layer that writes through a symbolic link of another is taken by the names
// in its tar.
//
// The types and media types are those of github.com/opencontainers/image-spec.
// The flattening is ours: github.com/google/go-containerregistry reads neither
// OCI archives nor without bringing dozens of modules to every user.
package image
