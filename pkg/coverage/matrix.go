package coverage

import (
	"cmp"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Matrix says what devices take for the kernels of files. Kernels are counted per
// module, never over the union of containers or files (case C28).
type Matrix struct {
	// Driver is the driver that is asked about; empty for one that is new enough.
	Driver  string            `json:"driver,omitempty"`
	Devices []arch.Capability `json:"devices"`
	Summary []Summary         `json:"summary"` // by device
	// Rows are the kernels for which all devices choose alike, those that some
	// device cannot run first.
	Rows []Row `json:"rows"`

	driver arch.Driver
	rows   map[string]int // positions in Rows by the key of a set
	same   map[string]int // positions in Rows by the choices
}

// Summary is a device and the kernels of all files.
type Summary struct {
	Device   arch.Capability `json:"device"`
	Products string          `json:"products,omitempty"`
	Kernels  int             `json:"kernels"`
	// By counts the kernels by what the device does for them.
	By map[arch.Fit]int `json:"by"`
	// CUDA is the oldest CUDA version of a driver that serves all that are served.
	CUDA string `json:"cuda,omitempty"`
}

// Row is kernels with the same choices.
type Row struct {
	Choices []Choice `json:"choices"` // by device
	Kernels int      `json:"kernels"`
	Modules int      `json:"modules"`
	Bare    int      `json:"bare,omitempty"` // as in Place
	Places  []Place  `json:"places"`
}

// Place is a module with kernels of a row, or the modules of a file of which only
// the sets are known.
type Place struct {
	File      string `json:"file"`
	Container string `json:"container,omitempty"` // of one module
	Modules   int    `json:"modules"`
	Kernels   int    `json:"kernels"`
	// Bare is how many of them stand for a module without a kernel: device
	// functions or variables, which the driver must load all the same.
	Bare int `json:"bare,omitempty"`
	// Names are those of the kernels, demangled: all of them where some device
	// cannot run them, else a few examples.
	Names []string `json:"names,omitempty"`
}

// examples is how many kernels are named where all devices run them.
const examples = 5

// NewMatrix begins a matrix without files.
func NewMatrix(devices []arch.Capability, d arch.Driver) *Matrix {
	m := &Matrix{Driver: d.CUDA, Devices: devices, driver: d, rows: map[string]int{}, same: map[string]int{}}
	for _, c := range devices {
		m.Summary = append(m.Summary, Summary{Device: c, Products: c.Products(), By: map[arch.Fit]int{}})
	}
	return m
}

// AddFile adds the kernels of a file.
func (m *Matrix) AddFile(f artifact.File) {
	for _, o := range f.Objects {
		for _, mod := range Modules(f.FormatOf(o), o) {
			for _, g := range mod.Groups() {
				names := make([]string, len(g.Kernels))
				for n, k := range g.Kernels {
					names[n] = k.Name
				}
				m.Add(g.Set, Place{File: f.Path, Container: mod.Place, Modules: 1, Kernels: len(g.Kernels), Bare: g.bare(), Names: names})
			}
		}
	}
}

// Add adds kernels of one place that share a set.
func (m *Matrix) Add(s Set, p Place) {
	key := s.key()
	n, known := m.rows[key]
	if !known {
		n = m.row(s)
		m.rows[key] = n
	}
	r := &m.Rows[n]
	r.Kernels += p.Kernels
	r.Modules += p.Modules
	r.Bare += p.Bare
	if unserved(*r) == 0 && len(p.Names) > examples {
		p.Names = slices.Clone(p.Names[:examples])
	}
	r.Places = append(r.Places, p)
	for i, c := range r.Choices {
		sum := &m.Summary[i]
		sum.Kernels += p.Kernels
		sum.By[c.Fit] += p.Kernels
		if c.Serves() {
			sum.CUDA = arch.Newer(sum.CUDA, c.CUDA)
		}
	}
}

// row gives the position of the row for a set.
func (m *Matrix) row(s Set) int {
	choices := make([]Choice, len(m.Devices))
	var key []byte
	for i, c := range m.Devices {
		choices[i] = s.Choose(c, m.driver)
		key = append(key, choices[i].String()...)
		key = append(key, '\n')
	}
	n, known := m.same[string(key)]
	if !known {
		n = len(m.Rows)
		m.same[string(key)] = n
		m.Rows = append(m.Rows, Row{Choices: choices})
	}
	return n
}

// Sort puts the rows in the order for reading: those that most devices cannot run
// first, then by the number of kernels. Nothing can be added after it.
func (m *Matrix) Sort() {
	m.rows, m.same = nil, nil
	slices.SortStableFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(unserved(b), unserved(a)), cmp.Compare(byJIT(b), byJIT(a)), cmp.Compare(a.Kernels, b.Kernels))
	})
}

// unserved counts the devices that do not run the kernels of a row.
func unserved(r Row) int {
	return count(r, func(c Choice) bool { return !c.Serves() })
}

func byJIT(r Row) int {
	return count(r, func(c Choice) bool { return c.Fit != arch.Native })
}

func count(r Row, is func(Choice) bool) (n int) {
	for _, c := range r.Choices {
		if is(c) {
			n++
		}
	}
	return n
}

// String gives a choice for people, as "native sm_90" or "JIT from compute_80 (PTX
// 8.4, CUDA 12.4)".
func (c Choice) String() string {
	needs := ""
	if c.CUDA != "" {
		needs = "CUDA " + c.CUDA
	}
	if c.PTX != "" {
		needs = cmp.Or(needs, "driver unknown")
		needs = "PTX " + c.PTX + ", " + needs
	}
	if needs != "" {
		needs = " (" + needs + ")"
	}
	switch {
	case c.Dropped:
		return "none: the driver no longer knows the device, else " + c.Image + needs
	case c.TooOld:
		return "none: the driver is too old for " + c.Image + needs
	case c.Fit == arch.JIT:
		return "JIT from " + c.Image + needs
	case c.Image == "":
		return string(c.Fit)
	}
	return string(c.Fit) + " " + c.Image + needs
}
