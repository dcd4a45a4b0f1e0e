package inspect

import (
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// only keeps the files of an archive whose names match a pattern, as [path.Match]
// has them, with ** for any folders. None is a problem.
func only(a *record.Artifact, pattern string) {
	if a.SHA256 == "" || a.Problem != "" {
		return
	}
	a.Objects = slices.DeleteFunc(a.Objects, func(o artifact.Object) bool {
		ok, err := doublestar.Match(pattern, o.Name)
		return err != nil || !ok
	})
	switch {
	case !a.IsArchive() && a.Format != artifact.StaticLibrary:
		a.Problem = fmt.Sprintf("%s is asked for, but the file (%s) is no archive", pattern, a.Format)
	case len(a.Objects) == 0:
		a.Problem = fmt.Sprintf("no file inside that can carry device code matches %s", pattern)
	}
}
