package linkage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// cache is the loader's cache, read for one kind of library.
type cache struct {
	data  []byte   // the part in the new format
	names []string // of subfolders of glibc-hwcaps
	// flags are those of the entries looked for, hwcaps the subfolders that
	// the processor supports, the best first.
	flags  int32
	hwcaps []string
}

// Layout of the cache: glibc, sysdeps/generic/dl-cache.h (struct cache_file,
// cache_file_new, file_entry_new, cache_extension). All numbers are little
// endian on the machines read here.
const (
	oldCacheMagic    = "ld.so-1.7.0"
	oldCacheHeader   = 16
	oldCacheEntry    = 12
	newCacheMagic    = "glibc-ld.so.cache1.1"
	newCacheHeader   = 48
	newCacheEntry    = 24
	extensionMagic   = 0xeaa42174
	extensionHWCaps  = 1       // tag of the section with the names of glibc-hwcaps subfolders
	hwcapExtension   = 1 << 62 // in an entry's hwcap: the low half is an index of that section
	maxCache         = 64 << 20
	maxCacheSections = 64 // sections of the extension, and names in one
)

// readCache reads the cache file. A file that does not exist is an empty cache.
func readCache(path string, flags int32, hwcaps []string) (*cache, error) {
	if path == "" {
		return &cache{}, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &cache{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCache+1))
	if err != nil {
		return nil, err
	}
	c, err := parseCache(data, flags, hwcaps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; run ldconfig", path, err)
	}
	return c, nil
}

func parseCache(data []byte, flags int32, hwcaps []string) (*cache, error) {
	if len(data) > maxCache {
		return nil, fmt.Errorf("more than %d bytes: not a cache of the loader", maxCache)
	}
	data, err := newCache(data)
	if err != nil {
		return nil, err
	}
	names, err := cacheHWCaps(data)
	if err != nil {
		return nil, err
	}
	return &cache{data: data, names: names, flags: flags, hwcaps: hwcaps}, nil
}

// lookup gives the path for a library's name, empty when the cache has none:
// that in the best of the supported subfolders of glibc-hwcaps, else that in
// the folder itself. Entries for other subfolders, and for those that glibc
// 2.37 gave up (tls, haswell, ...), are passed over.
func (c *cache) lookup(name string) (string, error) {
	if len(c.data) == 0 {
		return "", nil
	}
	var path string
	best := len(c.hwcaps) + 1
	for i := range uint64(binary.LittleEndian.Uint32(c.data[20:])) {
		entry, ok := part(c.data, newCacheHeader+i*newCacheEntry, newCacheEntry)
		if !ok {
			return "", fmt.Errorf("entry %d lies beyond the end", i)
		}
		key := uint64(binary.LittleEndian.Uint32(entry[4:]))
		if found, ok := part(c.data, key, uint64(len(name))+1); !ok || string(found) != name+"\x00" {
			continue
		}
		rank, ok := c.rank(binary.LittleEndian.Uint64(entry[16:]))
		if !ok || rank >= best || int32(binary.LittleEndian.Uint32(entry)) != c.flags {
			continue
		}
		value, err := cacheString(c.data, binary.LittleEndian.Uint32(entry[8:]))
		if err != nil {
			return "", fmt.Errorf("entry %d: %w", i, err)
		}
		path, best = value, rank
	}
	return path, nil
}

// rank orders an entry among those of its name by its hwcap, 0 first; false
// passes it over.
func (c *cache) rank(hwcap uint64) (int, bool) {
	index := hwcap & 0xffffffff
	switch {
	case hwcap == 0:
		return len(c.hwcaps), true
	case hwcap>>32 != hwcapExtension>>32 || index >= uint64(len(c.names)):
		return 0, false
	}
	rank := slices.Index(c.hwcaps, c.names[index])
	return rank, rank >= 0
}

// newCache finds the part in the new format: the whole file, or what follows
// the entries of the old one, aligned to 8 bytes. Offsets count from it.
func newCache(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte(oldCacheMagic)) && len(data) >= oldCacheHeader {
		old := oldCacheHeader + oldCacheEntry*uint64(binary.LittleEndian.Uint32(data[12:]))
		old = (old + 7) &^ 7
		if old > uint64(len(data)) {
			return nil, fmt.Errorf("%d bytes: shorter than its old entries", len(data))
		}
		data = data[old:]
	}
	if len(data) < newCacheHeader || !bytes.HasPrefix(data, []byte(newCacheMagic)) {
		return nil, fmt.Errorf("no header %q: not a cache of glibc's loader", newCacheMagic)
	}
	// Flags of 2 say little endian, 0 an ldconfig that did not tell, 3 big
	// endian (cache_file_new_flags_endian_*).
	if endian := data[28] & 3; endian != 0 && endian != 2 {
		return nil, fmt.Errorf("byte order flag %d: not a little endian cache", endian)
	}
	return data, nil
}

// cacheHWCaps gives the names of the glibc-hwcaps subfolders in the cache.
func cacheHWCaps(data []byte) ([]string, error) {
	offset := binary.LittleEndian.Uint32(data[32:])
	if offset == 0 {
		return nil, nil
	}
	header, ok := part(data, uint64(offset), 8)
	if !ok || binary.LittleEndian.Uint32(header) != extensionMagic {
		return nil, fmt.Errorf("no extension at offset %#x", offset)
	}
	count := binary.LittleEndian.Uint32(header[4:])
	if count > maxCacheSections {
		return nil, fmt.Errorf("extension at offset %#x: %d sections", offset, count)
	}
	for i := range uint64(count) {
		section, ok := part(data, uint64(offset)+8+16*i, 16)
		if !ok {
			return nil, fmt.Errorf("extension section %d lies beyond the end", i)
		}
		if binary.LittleEndian.Uint32(section) == extensionHWCaps {
			return cacheNames(data, binary.LittleEndian.Uint32(section[8:]), binary.LittleEndian.Uint32(section[12:]))
		}
	}
	return nil, nil
}

// cacheNames reads an array of string offsets.
func cacheNames(data []byte, offset, size uint32) ([]string, error) {
	array, ok := part(data, uint64(offset), uint64(size))
	if !ok || size > 4*maxCacheSections {
		return nil, fmt.Errorf("names of subfolders at offset %#x, %d bytes: damaged", offset, size)
	}
	var names []string
	for ; len(array) >= 4; array = array[4:] {
		name, err := cacheString(data, binary.LittleEndian.Uint32(array))
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func cacheString(data []byte, offset uint32) (string, error) {
	if uint64(offset) < uint64(len(data)) {
		rest := data[offset:]
		if end := bytes.IndexByte(rest[:min(len(rest), maxName)], 0); end >= 0 {
			return string(rest[:end]), nil
		}
	}
	return "", fmt.Errorf("no string at offset %#x", offset)
}

// part gives size bytes from an offset, if they are there.
func part(data []byte, offset, size uint64) ([]byte, bool) {
	if offset > uint64(len(data)) || size > uint64(len(data))-offset {
		return nil, false
	}
	return data[offset : offset+size], true
}
