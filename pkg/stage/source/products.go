package source

import (
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/stage/compile"
)

// products gives the files and folders that a verification writes, relative to
// the manifest's folder.
func products(m *manifest.Manifest) []string {
	list := []string{m.Rel(m.Evidence.Dir)}
	for _, b := range m.Build {
		if b.Output == "" {
			continue
		}
		output := m.Rel(b.Output)
		list = append(list, output, compile.ObjectFolder(output))
	}
	for _, e := range m.EntryPoints {
		for file := range e.Expect.Files {
			list = append(list, m.Rel(file))
		}
		for _, output := range e.Expect.SameAcrossModes {
			list = append(list, m.Rel(output.Path))
		}
	}
	return list
}
