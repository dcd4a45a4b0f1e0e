package fatbin

// Magic begins a container, as a little-endian uint32.
const Magic = 0xBA55ED50

// Align is the alignment of containers relative to the start of their section
// or file, and of entries and payloads within a container.
const Align = 8

const (
	containerHeaderSize = 16
	containerVersion    = 1
	minEntryHeaderSize  = 64
	maxEntryHeaderSize  = 1 << 20 // 120 is the most that was seen; options are part of it
	entryVersion        = 0x0101
)

// Kind is the kind of an entry.
type Kind uint16

// Kinds of entries. PTX, Cubin and LTOIR were seen in our own files; the
// others are named by public parsers (cuda-fatbin-precedence).
const (
	PTX            Kind = 0x01
	Cubin          Kind = 0x02
	LTOIR          Kind = 0x08
	RelocatablePTX Kind = 0x40
	TileIR         Kind = 0x80
)

// Flags are the flags of an entry.
type Flags uint64

// Flags seen in files, and those named by public parsers (macOS, Windows,
// obfuscated).
const (
	Bits64     Flags = 0x1
	Debug      Flags = 0x2
	Linux      Flags = 0x10
	MacOS      Flags = 0x20
	Windows    Flags = 0x40
	LZ4        Flags = 0x2000
	Zstd       Flags = 0x8000
	Obfuscated Flags = 0x10000
	Specific   Flags = 0x100000 // architecture-specific target, suffix a
	Family     Flags = 0x200000 // family-specific target, suffix f
	// Mercury is set on every cubin for sm_100 and newer. Its name is ours.
	Mercury Flags = 0x1000000

	known = Bits64 | Debug | Linux | MacOS | Windows | LZ4 | Zstd | Obfuscated | Specific | Family | Mercury
)
