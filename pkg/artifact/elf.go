package artifact

import (
	"debug/elf"
	"fmt"
	"io"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

func readELF(r io.ReaderAt, size int64, o devicecode.Options) (Object, Format, error) {
	f, err := hostelf.New(r, size)
	if err != nil {
		return Object{}, Unknown, fmt.Errorf("damaged ELF file: %w", err)
	}
	dynamic, err := readDynamic(f)
	if err != nil {
		return Object{}, Unknown, fmt.Errorf("damaged ELF file: dynamic section: %w", err)
	}
	format, err := elfFormat(f, dynamic)
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
func elfFormat(f *hostelf.File, dynamic *Dynamic) (Format, error) {
	switch f.Type {
	case elf.ET_REL:
		return ObjectFile, nil
	case elf.ET_EXEC:
		return Executable, nil
	case elf.ET_DYN:
		flags, err := f.DynValue(elf.DT_FLAGS_1)
		if err != nil {
			return Unknown, fmt.Errorf("damaged ELF file: dynamic section: %w", err)
		}
		pie := len(flags) == 1 && flags[0]&uint64(elf.DF_1_PIE) != 0
		if pie || dynamic != nil && dynamic.Interpreter != "" && dynamic.SOName == "" {
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
func readDynamic(f *hostelf.File) (*Dynamic, error) {
	var d Dynamic
	found := false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_DYNAMIC:
			found = true
		case elf.PT_INTERP:
			if p.Filesz > maxInterpreter {
				return nil, fmt.Errorf("interpreter's path has %d bytes", p.Filesz)
			}
			b := make([]byte, p.Filesz)
			if _, err := io.ReadFull(p.Open(), b); err != nil {
				return nil, fmt.Errorf("interpreter: %w", err)
			}
			d.Interpreter, _, _ = strings.Cut(string(b), "\x00")
		}
	}
	if !found {
		return nil, nil
	}
	if len(f.Sections) == 0 {
		return &d, nil // the code's problem says so
	}
	strs := make(map[elf.DynTag][]string)
	for _, tag := range []elf.DynTag{elf.DT_NEEDED, elf.DT_SONAME, elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tag, err)
		}
		strs[tag] = values
	}
	d.Needed = strs[elf.DT_NEEDED]
	d.SOName = strings.Join(strs[elf.DT_SONAME], "")
	d.RPath = split(strs[elf.DT_RPATH])
	d.RunPath = split(strs[elf.DT_RUNPATH])
	return &d, nil
}

func split(paths []string) []string {
	var list []string
	for _, p := range paths {
		list = append(list, strings.Split(p, ":")...)
	}
	return list
}
