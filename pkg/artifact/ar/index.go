package ar

import (
	"encoding/binary"
	"fmt"
	"io"
)

// checkIndex makes sure that every member header the symbol index points at
// was found. The index is a number of symbols, then for each the offset of its
// member, then the names, all numbers big-endian.
func checkIndex(r io.ReaderAt, index Member, headers map[int64]bool) error {
	width := int64(4)
	if index.Name == index64Name {
		width = 8
	}
	section := io.NewSectionReader(r, index.Offset, index.Size)
	number := func(at int64) (int64, error) {
		var b [8]byte
		if _, err := section.ReadAt(b[8-width:], at); err != nil {
			return 0, fmt.Errorf("symbol index at offset %#x is cut off", index.Offset)
		}
		return int64(binary.BigEndian.Uint64(b[:])), nil
	}
	count, err := number(0)
	if err != nil {
		return err
	}
	if count < 0 || count > index.Size/width-1 {
		return fmt.Errorf("symbol index at offset %#x: %d symbols do not fit into %d bytes", index.Offset, count, index.Size)
	}
	for i := range count {
		off, err := number((i + 1) * width)
		if err != nil {
			return err
		}
		if !headers[off] {
			return fmt.Errorf("the symbol index names a member at offset %#x, where none is: is the file cut off?", off)
		}
	}
	return nil
}
