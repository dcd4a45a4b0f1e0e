package devicecode

import "github.com/cudaproof/cudaproof/pkg/devicecode/arch"

// Code is all the device code found in one object: an ELF file, an archive
// member, or a raw fatbin, cubin or PTX file.
type Code struct {
	Containers []Container `json:"containers,omitempty"`
	// Problems are places that hold, or should hold, device code and could
	// not be read completely. A Code with problems proves nothing absent.
	Problems []Problem `json:"problems,omitempty"`
}

// Role says how the CUDA runtime gets at a container.
type Role string

// The roles of a container. A registration record (section .nvFatBinSegment,
// fatbinary_section.h of the toolkit) of version 1 names a whole-program or a
// relocatable container, one of version 2 the product of a device link.
const (
	WholeProgram Role = "whole-program" // registered, in .nv_fatbin
	DeviceLinked Role = "device-linked" // registered by a version 2 record
	Relocatable  Role = "relocatable"   // in __nv_relfatbin, or .llvm.offloading of Clang: input of a device link
	Unregistered Role = "unregistered"  // no record points at it: data that the program hands to the driver itself, or that nothing uses
	RawFile      Role = "file"          // the file itself is the container
)

// Container is what the driver loads as one module: a fatbin container with
// its entries, or a lone cubin or PTX file, which is a container of one image.
type Container struct {
	Section string  `json:"section,omitempty"` // ELF section, empty for a raw file and outside all sections
	Offset  int64   `json:"offset"`            // of its first byte in the file or archive member
	Size    int64   `json:"size"`              // bytes, header included
	Role    Role    `json:"role"`
	Images  []Image `json:"images"`
}

// Kind is the kind of an image, from the entry header.
type Kind string

// The kinds seen in files, and those named by public parsers. A kind outside
// this list is given as "kind 0x7777" and its image carries a Problem.
const (
	Cubin          Kind = "cubin"
	PTX            Kind = "ptx"
	LTOIR          Kind = "lto-ir" // never loaded by the driver: it needs nvJitLink
	RelocatablePTX Kind = "relocatable-ptx"
	TileIR         Kind = "tile-ir"
)

// Image is one entry of a container.
type Image struct {
	Kind   Kind        `json:"kind"`
	Target arch.Target `json:"target"` // sm_90a for a cubin, compute_90 for PTX
	// Virtual is the virtual architecture that a cubin was assembled from,
	// where the cubin tells it: one of ABI 8 does in a note.
	Virtual     string `json:"virtual,omitempty"`
	PTXVersion  string `json:"ptx_version,omitempty"` // PTX ISA version, "9.0"
	Toolkit     string `json:"toolkit,omitempty"`     // toolkit that wrote a cubin, "13.0"
	ABI         int    `json:"abi,omitempty"`         // cubin ABI version, 7 or 8
	Compression string `json:"compression,omitempty"` // "lz4", "zstd" or empty
	Flags       string `json:"flags"`                 // entry flags, "0x100011"
	Debug       bool   `json:"debug,omitempty"`
	// Obfuscated says that the payload cannot be decoded, nor hashed after it: PTX
	// so marked carries a Problem, LTO IR does not, for nothing in it counts.
	Obfuscated  bool  `json:"obfuscated,omitempty"`
	Relocatable bool  `json:"relocatable,omitempty"` // a cubin of ELF type REL, or an image in a relocatable container
	Offset      int64 `json:"offset"`                // of the payload in the file or archive member
	Size        int64 `json:"size"`                  // stored bytes, padding excluded
	DecodedSize int64 `json:"decoded_size"`
	// StoredSHA256 is the SHA-256 of the stored bytes, which tells equal images
	// without decoding.
	StoredSHA256 string `json:"stored_sha256"`
	SHA256       string `json:"sha256,omitempty"` // of the decoded bytes, with Options.Digests
	// Kernels are the entry functions, sorted by mangled name.
	Kernels   []Kernel `json:"kernels,omitempty"`
	Functions int      `json:"functions,omitempty"` // device functions that are not kernels
	Variables int      `json:"variables,omitempty"` // __device__ and __constant__ variables
	// Problem says why the image could not be read; an image with one counts
	// for nothing.
	Problem string `json:"problem,omitempty"`
}

// Empty reports whether an image that could be read holds nothing to load: no
// kernel, no device function and no variable. nvcc's link step leaves such a
// stub in every program it links.
func (i Image) Empty() bool {
	return i.Problem == "" && (i.Kind == Cubin || i.Kind == PTX) &&
		len(i.Kernels) == 0 && i.Functions == 0 && i.Variables == 0
}

// Kernel is one entry function.
type Kernel struct {
	Mangled string `json:"mangled"`
	// Name is the demangled qualified name without return type and parameters
	// ("ns::saxpy<float>"), the mangled name where it does not demangle.
	Name     string `json:"name"`
	CodeSize int64  `json:"code_size,omitempty"` // bytes of machine code, cubins only
	// Traps says that the body runs straight into a trap, after at most a message:
	// the kernel is there for this target in name only (case C25). It is told for
	// PTX and for machine code from sm_70 on; false says nothing.
	Traps bool `json:"traps,omitempty"`
}

// Problem is a place in the file that could not be read.
type Problem struct {
	Section string `json:"section,omitempty"`
	Offset  int64  `json:"offset"` // in the file or archive member
	Text    string `json:"text"`
}
