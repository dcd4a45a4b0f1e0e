package fatbin

import "encoding/binary"

// Entry is the header of one entry of a container.
type Entry struct {
	Kind    Kind
	Offset  int64 // of the entry header in the bytes given
	Payload int64 // offset of the payload in the bytes given
	Stored  int64 // bytes of the payload in the file, padding excluded when compressed
	Decoded int64 // bytes of the payload after decompression, as the header claims
	// Major and Minor are the PTX ISA version of a PTX entry. Other kinds have
	// a version of their own there (cubins 1.7 or 1.8).
	Major, Minor int
	Target       uint32 // 90 for sm_90
	Flags        Flags

	padded int64
}

func (e Entry) end() int64 { return e.Payload + e.padded }

func readEntry(b []byte, off, end int64) (Entry, error) {
	if end-off < minEntryHeaderSize {
		return Entry{}, formatErrorf(off, "entry header of at least %d bytes is cut off after %d", minEntryHeaderSize, end-off)
	}
	le, h := binary.LittleEndian, b[off:off+minEntryHeaderSize]
	if v := le.Uint16(h[0x02:]); v != entryVersion {
		return Entry{}, formatErrorf(off, "entry version %#04x is not known (%#04x is)", v, entryVersion)
	}
	size, padded := int64(le.Uint32(h[0x04:])), le.Uint64(h[0x08:])
	if size < minEntryHeaderSize || size > maxEntryHeaderSize || size%Align != 0 || size > end-off {
		return Entry{}, formatErrorf(off, "entry header claims %d bytes", size)
	}
	if room := end - off - size; padded > uint64(room) {
		return Entry{}, formatErrorf(off, "entry claims a payload of %d bytes, %d are left in its container", padded, room)
	}
	if padded%Align != 0 {
		return Entry{}, formatErrorf(off, "entry claims a payload of %d bytes, which is not a multiple of %d", padded, Align)
	}
	e := Entry{
		Kind:    Kind(le.Uint16(h[0x00:])),
		Offset:  off,
		Payload: off + size,
		Minor:   int(le.Uint16(h[0x18:])),
		Major:   int(le.Uint16(h[0x1a:])),
		Target:  le.Uint32(h[0x1c:]),
		Flags:   Flags(le.Uint64(h[0x28:])),
		padded:  int64(padded),
	}
	return e, e.setSizes(int64(le.Uint32(h[0x10:])), le.Uint64(h[0x38:]))
}

// setSizes fills Stored and Decoded from the header's fields, which are 0 in
// an entry that is not compressed.
func (e *Entry) setSizes(compressed int64, uncompressed uint64) error {
	if e.Flags&(LZ4|Zstd) == 0 {
		if compressed != 0 || uncompressed != 0 {
			return formatErrorf(e.Offset, "entry gives compressed size %d and uncompressed size %d without a compression flag", compressed, uncompressed)
		}
		e.Stored, e.Decoded = e.padded, e.padded
		return nil
	}
	if compressed == 0 || compressed > e.padded {
		return formatErrorf(e.Offset, "entry gives compressed size %d in a payload of %d bytes", compressed, e.padded)
	}
	if uncompressed == 0 {
		return formatErrorf(e.Offset, "entry is compressed and gives uncompressed size 0")
	}
	if uncompressed > maxDecoded {
		return formatErrorf(e.Offset, "entry claims %d bytes uncompressed, at most %d are read", uncompressed, int64(maxDecoded))
	}
	e.Stored, e.Decoded = compressed, int64(uncompressed)
	return nil
}

// Compression is the name of the compression, empty where there is none.
func (e Entry) Compression() string {
	switch {
	case e.Flags&LZ4 != 0:
		return "lz4"
	case e.Flags&Zstd != 0:
		return "zstd"
	}
	return ""
}

// UnknownFlags gives the flags that have no meaning we know.
func (e Entry) UnknownFlags() Flags { return e.Flags &^ known }
