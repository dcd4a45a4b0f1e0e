package linkage

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cacheEntry is an entry of a cache made for a test; hwcap is the name of a
// glibc-hwcaps subfolder or empty.
type cacheEntry struct {
	flags             uint32
	name, path, hwcap string
	legacy            uint64
}

// makeCache writes a cache in the new format.
func makeCache(entries []cacheEntry, subfolders []string) []byte {
	le := binary.LittleEndian
	text := []byte{}
	start := newCacheHeader + len(entries)*newCacheEntry
	put := func(s string) uint32 {
		at := uint32(start + len(text))
		text = append(append(text, s...), 0)
		return at
	}
	var body []byte
	for _, e := range entries {
		body = le.AppendUint32(body, e.flags)
		body = le.AppendUint32(body, put(e.name))
		body = le.AppendUint32(body, put(e.path))
		body = le.AppendUint32(body, 0)
		hwcap := e.legacy
		for i, s := range subfolders {
			if s == e.hwcap {
				hwcap = hwcapExtension | uint64(i)
			}
		}
		body = le.AppendUint64(body, hwcap)
	}
	var names []byte
	for _, s := range subfolders {
		names = le.AppendUint32(names, put(s))
	}
	extension := start + len(text)
	head := append([]byte(newCacheMagic), make([]byte, newCacheHeader-len(newCacheMagic))...)
	le.PutUint32(head[20:], uint32(len(entries)))
	le.PutUint32(head[24:], uint32(len(text)))
	head[28] = 2
	le.PutUint32(head[32:], uint32(extension))
	data := append(append(head, body...), text...)
	data = le.AppendUint32(data, extensionMagic)
	data = le.AppendUint32(data, 1)
	data = le.AppendUint32(data, extensionHWCaps)
	data = le.AppendUint32(data, 0)
	data = le.AppendUint32(data, uint32(extension+24))
	data = le.AppendUint32(data, uint32(len(names)))
	return append(data, names...)
}

var testCache = makeCache([]cacheEntry{
	{flags: 0x303, name: "liba.so.1", path: "/v3/liba.so.1", hwcap: "x86-64-v3"},
	{flags: 0x303, name: "liba.so.1", path: "/v4/liba.so.1", hwcap: "x86-64-v4"},
	{flags: 0x303, name: "liba.so.1", path: "/haswell/liba.so.1", legacy: 1 << 44},
	{flags: 0x003, name: "liba.so.1", path: "/32/liba.so.1"},
	{flags: 0x303, name: "liba.so.1", path: "/first/liba.so.1"},
	{flags: 0x303, name: "liba.so.1", path: "/second/liba.so.1"},
	{flags: 0xa03, name: "liba.so.1", path: "/arm/liba.so.1"},
}, []string{"x86-64-v3", "x86-64-v4"})

func TestCacheLookup(t *testing.T) {
	old := append([]byte(oldCacheMagic), 0)
	old = binary.LittleEndian.AppendUint32(old, 1)
	old = append(old, make([]byte, oldCacheEntry)...) // 28 bytes: 4 of padding
	compat := append(append(old, 0, 0, 0, 0), testCache...)
	tests := []struct {
		name   string
		data   []byte
		flags  int32
		hwcaps []string
		ask    string
		want   string
	}{
		{"baseline", testCache, 0x303, nil, "liba.so.1", "/first/liba.so.1"},
		{"level 3", testCache, 0x303, []string{"x86-64-v3", "x86-64-v2"}, "liba.so.1", "/v3/liba.so.1"},
		{"level 4", testCache, 0x303, []string{"x86-64-v4", "x86-64-v3"}, "liba.so.1", "/v4/liba.so.1"},
		{"arm64", testCache, 0xa03, nil, "liba.so.1", "/arm/liba.so.1"},
		{"both formats", compat, 0x303, nil, "liba.so.1", "/first/liba.so.1"},
		{"prefix of a name", testCache, 0x303, nil, "liba.so", ""},
		{"absent", testCache, 0x303, nil, "libb.so", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parseCache(tt.data, tt.flags, tt.hwcaps)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.lookup(tt.ask); err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// Cutting the cache anywhere gives an error or the same answer.
func TestCacheTruncated(t *testing.T) {
	for n := range len(testCache) {
		c, err := parseCache(testCache[:n], 0x303, nil)
		if err != nil {
			continue
		}
		if got, err := c.lookup("liba.so.1"); err == nil && got != "/first/liba.so.1" {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
}

// The cache of this machine gives what ldconfig prints.
func TestCacheOfThisMachine(t *testing.T) {
	ldconfig, err := exec.LookPath("ldconfig")
	if err != nil {
		ldconfig = "/sbin/ldconfig"
	}
	out, err := exec.Command(ldconfig, "-p").Output()
	if err != nil {
		t.Skip("needs ldconfig:", err)
	}
	c, err := readCache("/etc/ld.so.cache", 0x303, nil)
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) \(libc6,x86-64\) => (\S+)$`).FindAllStringSubmatch(string(out), -1) {
		if checked[m[1]] {
			continue
		}
		checked[m[1]] = true
		if got, err := c.lookup(m[1]); err != nil || got != m[2] {
			t.Errorf("%s: got %q, %v; ldconfig says %s", m[1], got, err, m[2])
		}
	}
	if len(checked) == 0 {
		t.Skip("no x86-64 libraries in this machine's cache")
	}
}

func TestCacheFile(t *testing.T) {
	dir := t.TempDir()
	if c, err := readCache(filepath.Join(dir, "absent"), 0x303, nil); err != nil {
		t.Error(err)
	} else if got, err := c.lookup("liba.so.1"); got != "" || err != nil {
		t.Error(got, err)
	}
	path := filepath.Join(dir, "cache")
	if err := os.WriteFile(path, []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readCache(path, 0x303, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func FuzzCache(f *testing.F) {
	f.Add(testCache, "liba.so.1")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		c, err := parseCache(data, 0x303, []string{"x86-64-v3"})
		if err != nil {
			return
		}
		if path, err := c.lookup(name); err != nil && path != "" {
			t.Errorf("both a path and an error: %q, %v", path, err)
		}
	})
}
