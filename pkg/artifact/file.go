// Package artifact reads a final file: its hash, its host format, and the
// device code in every object it holds.
package artifact

import "github.com/cudaproof/cudaproof/pkg/devicecode"

// File is a final file as it would be shipped.
type File struct {
	Path   string `json:"path"` // as it was named by the caller
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size"`
	Format Format `json:"format"`
	// Objects holds one object for a plain file, one for each member of a static
	// library and for each ELF file and piece of device code in an archive.
	Objects []Object `json:"objects,omitempty"`
	// Others counts the files in an archive that can carry no device code, by
	// their first bytes, and Links its symbolic and hard links.
	Others int `json:"others,omitempty"`
	Links  int `json:"links,omitempty"`
	// Problem says why the file as a whole could not be read.
	Problem string `json:"problem,omitempty"`
}

// Format is what a file is, by its first bytes.
type Format string

// The formats that are read, besides those of package archive ("zip", "tar",
// "gzip" and so on). Other files are Unknown: hashed, and a problem.
const (
	Executable    Format = "ELF executable"
	SharedLibrary Format = "ELF shared library"
	ObjectFile    Format = "ELF object"
	StaticLibrary Format = "static library"
	Fatbin        Format = "fatbin"
	CubinFile     Format = "cubin"
	PTXFile       Format = "PTX"
	// ContainerImage is an OCI image layout, in a folder or a tar, or what
	// `docker save` writes. The hash of a folder is that of its index.json.
	ContainerImage Format = "container image"
	Unknown        Format = "unknown"
)

// Object is one ELF file or one raw piece of device code.
type Object struct {
	// Name is empty for a plain file, else that of the member. Where archives lie
	// in one another the names are joined by "!": "pkg/x.whl!pkg/lib.so".
	Name string `json:"name,omitempty"`
	// Format, SHA256 and Size are those of a file in an archive.
	Format  Format          `json:"format,omitempty"`
	SHA256  string          `json:"sha256,omitempty"`
	Size    int64           `json:"size,omitempty"`
	Host    *Host           `json:"host,omitempty"` // nil for raw device code
	Dynamic *Dynamic        `json:"dynamic,omitempty"`
	Code    devicecode.Code `json:"code"`
}

// Host is the host side of an ELF file.
type Host struct {
	Machine string `json:"machine"` // as `uname -m` says it: "x86_64", "aarch64"
	Bits    int    `json:"bits"`    // 32 or 64
}

// Dynamic is what the dynamic loader reads in an ELF file.
type Dynamic struct {
	Interpreter string   `json:"interpreter,omitempty"`
	SOName      string   `json:"soname,omitempty"`
	Needed      []string `json:"needed,omitempty"`
	RPath       []string `json:"rpath,omitempty"`   // DT_RPATH, split at colons
	RunPath     []string `json:"runpath,omitempty"` // DT_RUNPATH, split at colons
}

// IsArchive reports whether the file holds files of their own, static libraries
// aside.
func (f File) IsArchive() bool {
	switch f.Format {
	case Executable, SharedLibrary, ObjectFile, StaticLibrary, Fatbin, CubinFile, PTXFile, Unknown:
		return false
	}
	return true
}

// FormatOf gives the format of one of the file's objects.
func (f File) FormatOf(o Object) Format {
	if o.Format != "" {
		return o.Format
	}
	return f.Format
}

// HasDeviceCode reports whether any object holds, or may hold, device code.
func (f File) HasDeviceCode() bool {
	for _, o := range f.Objects {
		if len(o.Code.Containers) > 0 || len(o.Code.Problems) > 0 {
			return true
		}
	}
	return false
}
