package artifact

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

func readELF(b []byte, o devicecode.Options) (Object, Format, error) {
	f, err := hostelf.New(b)
	if err != nil {
		return Object{}, Unknown, fmt.Errorf("damaged ELF file: %w", err)
	}
	section, err := f.Dynamic()
	if err != nil {
		return Object{}, Unknown, fmt.Errorf("damaged ELF file: dynamic section: %w", err)
	}
	dynamic, err := readDynamic(f, section)
	if err != nil {
		return Object{}, Unknown, fmt.Errorf("damaged ELF file: dynamic section: %w", err)
	}
	format, err := elfFormat(f, section, dynamic)
	if err != nil {
		return Object{}, Unknown, err
	}
	host := &Host{Machine: machine(f.Machine), Bits: 64}
	if f.Class == elf.ELFCLASS32 {
		host.Bits = 32
	}
	return Object{Host: host, Dynamic: dynamic, Code: devicecode.ReadELF(f, o)}, format, nil
}

// machines names the hosts that CUDA supports or supported, as uname -m does.
var machines = map[elf.Machine]string{
	elf.EM_X86_64:  "x86_64",
	elf.EM_AARCH64: "aarch64",
	elf.EM_PPC64:   "ppc64le",
	elf.EM_386:     "i686",
	elf.EM_ARM:     "armv7l",
}

func machine(m elf.Machine) string {
	if name, ok := machines[m]; ok {
		return name
	}
	return fmt.Sprintf("ELF machine %d", m)
}

// elfFormat tells an executable from a shared library. A position-independent
// executable has the ELF type of a library: the linker's flag tells, and with
// an old linker that an interpreter is asked for and no name of a library given.
func elfFormat(f *hostelf.File, section *hostelf.Dynamic, dynamic *Dynamic) (Format, error) {
	switch f.Type {
	case elf.ET_REL:
		return ObjectFile, nil
	case elf.ET_EXEC:
		return Executable, nil
	case elf.ET_DYN:
		if dynamic == nil {
			return SharedLibrary, nil
		}
		pie := section.Value(elf.DT_FLAGS_1)&uint64(elf.DF_1_PIE) != 0
		if pie || dynamic.Interpreter != "" && dynamic.SOName == "" {
			return Executable, nil
		}
		return SharedLibrary, nil
	}
	return Unknown, fmt.Errorf("ELF type %d is not read, only executables, shared libraries and objects", f.Type)
}

// maxInterpreter bounds the path of the program loader, in bytes.
const maxInterpreter = 4096

// readDynamic gives nil for a file that the dynamic loader has nothing to do
// with.
func readDynamic(f *hostelf.File, section *hostelf.Dynamic) (*Dynamic, error) {
	if section == nil {
		return nil, nil
	}
	strs := make(map[elf.DynTag][]string)
	for _, tag := range []elf.DynTag{elf.DT_NEEDED, elf.DT_SONAME, elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := section.Strings(tag)
		if err != nil {
			return nil, err
		}
		strs[tag] = values
	}
	interpreter, err := interpreter(f)
	return &Dynamic{
		Interpreter: interpreter,
		SOName:      strings.Join(strs[elf.DT_SONAME], ""),
		Needed:      strs[elf.DT_NEEDED],
		RPath:       split(strs[elf.DT_RPATH]),
		RunPath:     split(strs[elf.DT_RUNPATH]),
	}, err
}

func interpreter(f *hostelf.File) (string, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if p.Filesz > maxInterpreter {
			return "", fmt.Errorf("interpreter's path has %d bytes", p.Filesz)
		}
		path, _, _ := strings.Cut(string(f.Bytes[p.Off:p.Off+p.Filesz]), "\x00")
		return path, nil
	}
	return "", nil
}

func split(paths []string) []string {
	var list []string
	for _, p := range paths {
		list = append(list, strings.Split(p, ":")...)
	}
	return list
}
