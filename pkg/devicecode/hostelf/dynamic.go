package hostelf

import (
	"bytes"
	"debug/elf"
	"fmt"
)

// Dynamic is the dynamic section as the loader reads it: by the program
// headers, so that a file without section headers has one too (System V gABI,
// chapter 5, "Dynamic Section").
type Dynamic struct {
	entries []elf.Dyn64
	strings []byte // the table that DT_STRTAB and DT_STRSZ name
}

// Dynamic gives nil for a file that the dynamic loader has nothing to do with.
func (f *File) Dynamic() (*Dynamic, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC {
			d := &Dynamic{entries: f.dynamicEntries(f.Bytes[p.Off : p.Off+p.Filesz])}
			return d, d.findStrings(f)
		}
	}
	return nil, nil
}

// dynamicEntries reads up to the first DT_NULL.
func (f *File) dynamicEntries(b []byte) []elf.Dyn64 {
	word := 8
	if f.Class == elf.ELFCLASS32 {
		word = 4
	}
	number := func(b []byte) uint64 {
		if word == 4 {
			return uint64(f.ByteOrder.Uint32(b))
		}
		return f.ByteOrder.Uint64(b)
	}
	var entries []elf.Dyn64
	for ; len(b) >= 2*word; b = b[2*word:] {
		tag := number(b)
		if elf.DynTag(tag) == elf.DT_NULL {
			break
		}
		entries = append(entries, elf.Dyn64{Tag: int64(tag), Val: number(b[word:])})
	}
	return entries
}

func (d *Dynamic) findStrings(f *File) error {
	table, size := d.Value(elf.DT_STRTAB), d.Value(elf.DT_STRSZ)
	if table == 0 {
		return nil
	}
	off, ok := f.At(table)
	if ok {
		d.strings, ok = slice(f.Bytes, uint64(off), size)
	}
	if !ok {
		return fmt.Errorf("string table of %d bytes at address %#x is not in the file", size, table)
	}
	return nil
}

// Value gives the value of the last entry with a tag, 0 where there is none.
func (d *Dynamic) Value(tag elf.DynTag) uint64 {
	var value uint64
	for _, e := range d.entries {
		if elf.DynTag(e.Tag) == tag {
			value = e.Val
		}
	}
	return value
}

// Strings gives the strings that the entries with a tag name, in order.
func (d *Dynamic) Strings(tag elf.DynTag) ([]string, error) {
	var list []string
	for _, e := range d.entries {
		if elf.DynTag(e.Tag) != tag {
			continue
		}
		text, ok := slice(d.strings, e.Val, 0)
		end := -1
		if ok {
			text = d.strings[e.Val:]
			end = bytes.IndexByte(text, 0)
		}
		if end < 0 {
			return nil, fmt.Errorf("%s: no string at offset %#x of a table of %d bytes", tag, e.Val, len(d.strings))
		}
		list = append(list, string(text[:end]))
	}
	return list, nil
}
