package fatbin

import "encoding/binary"

// Container is one fatbin container.
type Container struct {
	Offset  int64 // of the header in the bytes given
	Size    int64 // bytes, header included
	Entries []Entry
}

// ReadContainer reads the headers of the container at off in b, which must end
// at or before limit. No payload is read.
//
// A *[FormatError] says what is damaged. The entries before the damage are
// returned with it, and Size is 0 when the container's own header is at fault.
func ReadContainer(b []byte, off, limit int64) (Container, error) {
	c := Container{Offset: off}
	limit = min(limit, int64(len(b)))
	if limit-off < containerHeaderSize {
		return c, formatErrorf(off, "container header of %d bytes is cut off after %d", containerHeaderSize, max(limit-off, 0))
	}
	le, h := binary.LittleEndian, b[off:off+containerHeaderSize]
	if magic := le.Uint32(h[0:]); magic != Magic {
		return c, formatErrorf(off, "no container: found %#08x, want the magic %#08x", magic, uint32(Magic))
	}
	if v := le.Uint16(h[4:]); v != containerVersion {
		return c, formatErrorf(off, "container version %d is not known (%d is)", v, containerVersion)
	}
	if n := le.Uint16(h[6:]); n != containerHeaderSize {
		return c, formatErrorf(off, "container header of %d bytes is not known (%d is)", n, containerHeaderSize)
	}
	size := le.Uint64(h[8:])
	if size > uint64(limit-off-containerHeaderSize) {
		return c, formatErrorf(off, "container claims %d bytes, %d are there", size, limit-off-containerHeaderSize)
	}
	c.Size = containerHeaderSize + int64(size)
	return c, c.readEntries(b)
}

func (c *Container) readEntries(b []byte) error {
	end := c.Offset + c.Size
	for off := c.Offset + containerHeaderSize; off < end; {
		e, err := readEntry(b, off, end)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, e)
		off = e.end()
	}
	return nil
}

// Is reports whether b begins with the magic of a container.
func Is(b []byte) bool { return len(b) >= 4 && binary.LittleEndian.Uint32(b) == Magic }

// Plausible reports whether b begins with the headers of a container and of a
// first entry. The magic alone occurs in ordinary code and data.
func Plausible(b []byte) bool {
	le := binary.LittleEndian
	return len(b) >= containerHeaderSize+minEntryHeaderSize &&
		Is(b) && le.Uint16(b[4:]) == containerVersion && le.Uint16(b[6:]) == containerHeaderSize &&
		le.Uint16(b[containerHeaderSize+2:]) == entryVersion
}
