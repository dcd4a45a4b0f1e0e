package coverage

import "github.com/cudaproof/cudaproof/pkg/artifact"

// Folded is a set and how many kernels of a file share it.
type Folded struct {
	Set
	Kernels int    `json:"kernels"`        // counted per module
	Bare    int    `json:"bare,omitempty"` // as in Place
	Modules int    `json:"modules"`
	Example string `json:"example"` // the name of one of the kernels
}

// Fold gives the sets of a file, each once, in the order of the file. It is as
// short for a library of a hundred thousand kernels as for one of ten.
func Fold(f artifact.File) []Folded {
	var list []Folded
	at := map[string]int{}
	for _, o := range f.Objects {
		for _, m := range Modules(f.FormatOf(o), o) {
			for _, g := range m.Groups() {
				key := g.key()
				n, known := at[key]
				if !known {
					n = len(list)
					at[key] = n
					list = append(list, Folded{Set: g.Set, Example: g.Kernels[0].Name})
				}
				list[n].Kernels += len(g.Kernels)
				list[n].Bare += g.bare()
				list[n].Modules++
			}
		}
	}
	return list
}

// AddFolded adds the kernels of a file of which only the sets are known.
func (m *Matrix) AddFolded(file string, sets []Folded) {
	for _, f := range sets {
		m.Add(f.Set, Place{File: file, Modules: f.Modules, Kernels: f.Kernels, Bare: f.Bare, Names: []string{f.Example}})
	}
}
