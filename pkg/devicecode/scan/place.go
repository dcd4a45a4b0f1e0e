package scan

import (
	"debug/elf"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
)

// The sections of device code (fatbinary_section.h of the toolkit names the
// first; the second was seen in files of nvcc 11.8 and 13.0).
const (
	Fatbin      = ".nv_fatbin"
	Relocatable = "__nv_relfatbin"
	// Offload is Clang's: images that its linker wrapper links.
	Offload = offloadSection
)

// Place is a container, a lone cubin or a lone PTX text, and where it was found.
type Place struct {
	// Container is what was found; a lone image has no entries in it.
	fatbin.Container
	Lone    Lone
	Section string // empty outside all sections
	// Record is the version of the registration record that points at it, 0
	// where none does: 1 is a container for the runtime to load or, in
	// __nv_relfatbin, an input of a device link; 2 is the product of one.
	Record uint32
}

// Lone says what a place holds that is no container.
type Lone int

// What a place holds.
const (
	NotLone Lone = iota // a container
	Cubin
	PTX
)

// Problem is a place that could not be read.
type Problem struct {
	Section string
	Offset  int64 // in the file
	Text    string
}

// Result is what a file holds.
type Result struct {
	Places   []Place // in the file's order
	Problems []Problem
	// Linked says that the runtime's records are final: an executable or a
	// shared library. In an object of the linker they need not be.
	Linked bool
}

func isDeviceSection(s *elf.Section) bool {
	return s.Name == Fatbin || s.Name == Relocatable
}
