package inspect

import (
	"context"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// unreadable stands for the hash of an artifact that is gone after the runs. It
// equals no hash, so that the file counts as changed.
const unreadable = "unreadable"

// Rehash fills AfterRuns of the artifacts that were inspected: the hash of the
// file as it is now, or "unreadable".
func Rehash(m *manifest.Manifest, artifacts []record.Artifact) {
	each(len(artifacts), nil, func(n int) string { return artifacts[n].Path }, func(n int) {
		a := &artifacts[n]
		if a.SHA256 == "" {
			return
		}
		var err error
		if a.AfterRuns, _, err = artifact.HashFile(m.Abs(a.Path)); err != nil {
			a.AfterRuns = unreadable
		}
	})
}

// hashed is a file of which only the hash is wanted.
func hashed(ctx context.Context, path, name string) artifact.File {
	f := artifact.File{Path: name, Format: artifact.Unknown}
	err := ctx.Err()
	if err == nil {
		f.SHA256, f.Size, err = artifact.HashFile(path)
	}
	if err != nil {
		f.Problem = problem(err)
	}
	return f
}
