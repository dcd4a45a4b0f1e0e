package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Only keeps the files in an archive whose names match a pattern as [path.Match]
// has them, with ** for any folders, and archives within taken for folders. None
// is an error.
func Only(a *record.Artifact, pattern string) error {
	if a.SHA256 == "" || a.Problem != "" {
		return nil // which is said anyway
	}
	if !a.IsArchive() && a.Format != artifact.StaticLibrary {
		return fmt.Errorf("%s: the file (%s) is no archive, so nothing in it matches %q", a.Path, a.Format, pattern)
	}
	asFolders := strings.NewReplacer("!", "/")
	pattern = asFolders.Replace(pattern)
	a.Objects = slices.DeleteFunc(a.Objects, func(o artifact.Object) bool {
		ok, err := doublestar.Match(pattern, asFolders.Replace(o.Name))
		return err != nil || !ok
	})
	if len(a.Objects) == 0 {
		return fmt.Errorf("%s: no file inside that can carry device code matches %q", a.Path, pattern)
	}
	return nil
}
