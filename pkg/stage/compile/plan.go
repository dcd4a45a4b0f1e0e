package compile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
)

// commands are the command lines of one build. Paths are those of the manifest.
type commands struct {
	units  []unit
	link   []string
	output string
}

// unit is one source and the command that compiles it.
type unit struct {
	source, object, deps string
	args                 []string
}

// plan lays out a build: each source on its own, then one link. The device link
// of relocatable code happens in the link, which therefore gets the same
// targets; without them nvcc links for its default, and says nothing. Flags
// stand before the source, and after the objects in the link, where libraries
// must stand; -l and -L do no harm where nothing is linked.
func plan(nvcc string, gencode []manifest.Gencode, b manifest.Build) commands {
	base := append([]string{nvcc}, gencodeArgs(gencode)...)
	if b.RDC {
		base = append(base, "-rdc=true")
	}
	if b.Kind == manifest.Shared {
		base = append(base, "-Xcompiler", "-fPIC")
	}
	c := commands{output: b.Output}
	var objects []string
	for i, source := range b.Sources {
		stem := strings.TrimSuffix(path.Base(source), path.Ext(source))
		object := path.Join(ObjectFolder(b.Output), fmt.Sprintf("%d-%s.o", i+1, stem))
		deps := strings.TrimSuffix(object, ".o") + ".d"
		c.units = append(c.units, unit{source, object, deps,
			slices.Concat(base, b.Flags, []string{"-MD", "-MF", deps, "-c", source, "-o", object})})
		objects = append(objects, object)
	}
	c.link = slices.Concat(base, linkMode[b.Kind], objects, b.Flags, []string{"-o", b.Output})
	return c
}

var linkMode = map[manifest.BuildKind][]string{
	manifest.Shared: {"-shared"},
	manifest.Static: {"-lib"},
}
