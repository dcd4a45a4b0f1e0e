package scan

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// Clang's offload driver keeps device images in a section of objects, as one
// OffloadBinary after another (LLVM, llvm/Object/OffloadBinary.h and
// ClangOffloadPackager.rst; seen in objects of Clang 19): magic, u32 version, u64
// size, u64 offset of the entry, u64 size of the entry. The entry: u16 kind of
// image, u16 kind of offloading, u32 flags, u64 offset and u64 number of the
// strings, u64 offset and u64 size of the image.
const (
	offloadSection = ".llvm.offloading"
	offloadMagic   = "\x10\xff\x10\xad"
	offloadVersion = 1
	offloadHeader  = 32
	offloadEntry   = 40
	offloadAlign   = 8
)

// Kinds of images and of offloading that are told apart.
const (
	offloadBitcode = 2
	offloadHIP     = 4
)

// offloadImage is an image of an OffloadBinary.
type offloadImage struct {
	span
	kind, producer uint16
}

// offloading reads the headers of a section of OffloadBinaries. The images
// themselves are found by searching; those that cannot be are a problem.
func (s *scanner) offloading(section *elf.Section) {
	if !s.readable(section) {
		return
	}
	end := int64(section.Offset + section.Size)
	for off := int64(section.Offset); off < end; {
		i, size, err := readOffload(s.bytes, off, end)
		if err != nil {
			s.problem(section.Name, off, "damaged offload binary: %v", err)
			return
		}
		switch {
		case i.producer == offloadHIP:
			s.problem(section.Name, i.start, "HIP: device code for AMD GPUs, which is not read")
		case i.kind == offloadBitcode:
			s.problem(section.Name, i.start, "LLVM bitcode, which is compiled when the program is linked: inspect the linked file")
		case !s.holds(i.span):
			s.problem(section.Name, i.start, "an image of kind %d, in which no device code is known", i.kind)
		}
		off += size
		off += (int64(section.Offset) - off) & (offloadAlign - 1)
	}
}

// readOffload reads the OffloadBinary at off and gives its size.
func readOffload(b []byte, off, end int64) (i offloadImage, size int64, err error) {
	le := binary.LittleEndian
	if end-off < offloadHeader || !bytes.HasPrefix(b[off:], []byte(offloadMagic)) {
		return i, 0, fmt.Errorf("no header with the magic % x", offloadMagic)
	}
	if v := le.Uint32(b[off+4:]); v != offloadVersion {
		return i, 0, fmt.Errorf("version %d is not known (%d is)", v, offloadVersion)
	}
	total, entry := le.Uint64(b[off+8:]), le.Uint64(b[off+16:])
	if total < offloadHeader || total > uint64(end-off) {
		return i, 0, fmt.Errorf("it claims %d bytes, %d are there", total, end-off)
	}
	if entry > total || total-entry < offloadEntry {
		return i, 0, fmt.Errorf("its entry at offset %#x runs past its %d bytes", entry, total)
	}
	e := b[off+int64(entry):]
	at, length := le.Uint64(e[24:]), le.Uint64(e[32:])
	if at > total || length > total-at {
		return i, 0, fmt.Errorf("its image of %d bytes at offset %#x runs past its %d bytes", length, at, total)
	}
	i.start, i.end = off+int64(at), off+int64(at+length)
	i.kind, i.producer = le.Uint16(e), le.Uint16(e[2:])
	return i, int64(total), nil
}

// holds reports whether device code was found at the start of a range.
func (s *scanner) holds(in span) bool {
	_, ok := s.at[in.start]
	return ok
}
