package devicecode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// kinds names the kinds of entries and the class of their targets. Those
// without a class are not read.
var kinds = map[fatbin.Kind]struct {
	kind  Kind
	class arch.Class
}{
	fatbin.Cubin:          {Cubin, arch.SM},
	fatbin.PTX:            {PTX, arch.Compute},
	fatbin.LTOIR:          {LTOIR, arch.LTO},
	fatbin.RelocatablePTX: {kind: RelocatablePTX},
	fatbin.TileIR:         {kind: TileIR},
}

// newImage gives what the header of an entry says.
func newImage(e fatbin.Entry, relocatable bool) Image {
	i := Image{
		Kind:        kinds[e.Kind].kind,
		Compression: e.Compression(),
		Flags:       fmt.Sprintf("%#x", uint64(e.Flags)),
		Debug:       e.Flags&fatbin.Debug != 0,
		Obfuscated:  e.Flags&fatbin.Obfuscated != 0,
		Relocatable: relocatable,
		Offset:      e.Payload,
		Size:        e.Stored,
		DecodedSize: e.Decoded,
	}
	if i.Kind == "" {
		i.Kind = Kind(fmt.Sprintf("kind %#x", uint16(e.Kind)))
	}
	if class := kinds[e.Kind].class; class != "" {
		i.Target = arch.Target{Class: class, Number: int(e.Target), Suffix: suffix(e.Flags)}
	}
	if e.Kind == fatbin.PTX {
		i.PTXVersion = fmt.Sprintf("%d.%d", e.Major, e.Minor)
	}
	return i
}

func suffix(f fatbin.Flags) arch.Suffix {
	switch {
	case f&fatbin.Specific != 0:
		return arch.Specific
	case f&fatbin.Family != 0:
		return arch.Family
	}
	return arch.Plain
}

// readEntry fills what the payload says. Errors name the entry.
func (w *worker) readEntry(e fatbin.Entry, i *Image) error {
	if err := w.readPayload(e, i); err != nil {
		return fmt.Errorf("entry at offset %#x: %w", e.Offset, err)
	}
	return nil
}

func (w *worker) readPayload(e fatbin.Entry, i *Image) error {
	i.StoredSHA256 = hash(w.bytes[e.Payload : e.Payload+e.Stored])
	if i.Target == (arch.Target{}) {
		return fmt.Errorf("%s is not read", i.Kind)
	}
	if err := checkHeader(e); err != nil {
		return err
	}
	if i.Kind == LTOIR && i.Obfuscated {
		return nil // nvcc 13.0 writes all of it so; nothing in it counts
	}
	b, err := w.payload.Decode(w.bytes, e)
	if err != nil {
		return err
	}
	w.digest(b, i)
	switch e.Kind {
	case fatbin.Cubin:
		return i.readCubin(b, w.names)
	case fatbin.PTX:
		defer w.hand(b, i)
		return i.readPTX(b, w.names)
	}
	return nil // LTO IR: nothing in it counts
}

// digest fills SHA256. What is not compressed is hashed as stored already.
func (w *worker) digest(b []byte, i *Image) {
	switch {
	case !w.options.Digests:
	case i.Compression == "":
		i.SHA256 = i.StoredSHA256
	default:
		i.SHA256 = hash(b)
	}
}

// readLone fills what a cubin or PTX text says that no container tells anything
// about.
func (w *worker) readLone(i *Image) error {
	b := w.bytes[i.Offset : i.Offset+i.Size]
	i.StoredSHA256 = hash(b)
	w.digest(b, i)
	if i.Kind == Cubin {
		return i.readCubinFile(b, w.names)
	}
	defer w.hand(b, i)
	return i.readPTXFile(b, w.names)
}

// hand gives a PTX text to who asked for it.
func (w *worker) hand(text []byte, i *Image) {
	if w.options.PTX != nil && len(i.Kernels)+i.Functions+i.Variables > 0 {
		w.options.PTX(i.SHA256, text)
	}
}

// checkHeader refuses what would make the payload mean something else.
func checkHeader(e fatbin.Entry) error {
	if unknown := e.UnknownFlags(); unknown != 0 {
		return fmt.Errorf("flags %#x are not known (of %#x)", uint64(unknown), uint64(e.Flags))
	}
	if e.Flags&fatbin.Obfuscated != 0 && e.Kind == fatbin.PTX {
		return errors.New("obfuscated PTX cannot be read")
	}
	if e.Flags&fatbin.Specific != 0 && e.Flags&fatbin.Family != 0 {
		return fmt.Errorf("flags %#x name an architecture-specific and a family-specific target at once", uint64(e.Flags))
	}
	if e.Target < 10 || e.Target > 999 {
		return fmt.Errorf("target number %d is not plausible", e.Target)
	}
	return nil
}

// readCubin reads the cubin of an entry, which must fit the entry's header.
func (i *Image) readCubin(b []byte, names *nameCache) error {
	f, err := cubin.Read(b)
	if err != nil {
		return err
	}
	if f.Number != i.Target.Number {
		return fmt.Errorf("the header names %s, the cubin is for sm_%d", i.Target, f.Number)
	}
	// A container of an older toolkit may leave the suffix to the cubin, and a
	// cubin of ABI 8 leaves it to the container.
	switch {
	case i.Target.Suffix == arch.Plain && f.Suffix == arch.Specific && f.ABI == 7:
		i.Target.Suffix = arch.Specific
	case f.SuffixKnown && f.Suffix != i.Target.Suffix:
		return fmt.Errorf("the header names %s, the cubin is for %s", i.Target, arch.Target{Class: arch.SM, Number: f.Number, Suffix: f.Suffix})
	}
	i.fillCubin(f, names)
	return nil
}

// readCubinFile reads a cubin that no container says anything about.
func (i *Image) readCubinFile(b []byte, names *nameCache) error {
	f, err := cubin.Read(b)
	if err != nil {
		return err
	}
	i.Target = arch.Target{Class: arch.SM, Number: f.Number, Suffix: f.Suffix}
	i.fillCubin(f, names)
	if !f.SuffixKnown {
		return fmt.Errorf("%s, suffix unknown: a lone cubin of ABI %d tells it in a note only, which is missing here", i.Target, f.ABI)
	}
	return nil
}

func (i *Image) fillCubin(f *cubin.File, names *nameCache) {
	i.ABI, i.Toolkit = f.ABI, f.Toolkit
	i.Relocatable = i.Relocatable || f.Relocatable
	if f.Virtual != 0 {
		i.Virtual = arch.Target{Class: arch.Compute, Number: f.Virtual}.String()
	}
	i.Functions, i.Variables = f.Functions, f.Variables
	i.Kernels = make([]Kernel, len(f.Kernels))
	for n, k := range f.Kernels {
		i.Kernels[n] = names.kernel(k.Name)
		i.Kernels[n].CodeSize, i.Kernels[n].Traps = k.CodeSize, k.Traps
	}
	i.sortKernels()
}

// readPTX reads the PTX of an entry, which must fit the entry's header.
func (i *Image) readPTX(b []byte, names *nameCache) error {
	m, err := ptx.Read(b)
	if err != nil {
		return err
	}
	if m.Target != i.Target {
		return fmt.Errorf("the header names %s, .target %s", i.Target, m.Target.As(arch.SM))
	}
	if version := ptxVersion(m); version != i.PTXVersion {
		return fmt.Errorf("the header names PTX ISA %s, .version %s", i.PTXVersion, version)
	}
	i.fillPTX(m, names)
	return nil
}

func (i *Image) readPTXFile(b []byte, names *nameCache) error {
	m, err := ptx.Read(b)
	if err != nil {
		return err
	}
	i.Target, i.PTXVersion = m.Target, ptxVersion(m)
	i.fillPTX(m, names)
	return nil
}

func ptxVersion(m *ptx.Module) string { return fmt.Sprintf("%d.%d", m.Major, m.Minor) }

func (i *Image) fillPTX(m *ptx.Module, names *nameCache) {
	i.Functions, i.Variables = m.Functions, m.Variables
	i.Kernels = make([]Kernel, len(m.Kernels))
	traps := m.Traps // in the order of the kernels
	for n, name := range m.Kernels {
		i.Kernels[n] = names.kernel(name)
		if len(traps) > 0 && traps[0] == name {
			i.Kernels[n].Traps, traps = true, traps[1:]
		}
	}
	i.sortKernels()
}

func (i *Image) sortKernels() {
	slices.SortFunc(i.Kernels, func(a, b Kernel) int { return cmp.Compare(a.Mangled, b.Mangled) })
}
