package artifact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// problems gives every problem of a file, with offsets.
func problems(f File) []string {
	var list []string
	if f.Problem != "" {
		list = append(list, f.Problem)
	}
	for _, o := range f.Objects {
		for _, p := range o.Code.Problems {
			list = append(list, fmt.Sprintf("%s %#x: %s", p.Section, p.Offset, p.Text))
		}
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				if i.Problem != "" {
					list = append(list, i.Problem)
				}
			}
		}
	}
	return list
}

// Offsets in v_90.so, as readelf and a dump of the container show them.
const (
	at90Container  = 0x2028
	at90Cubin      = 0x2038 // entry
	at90CubinELF   = 0x2078
	at90PTX        = 0x2ee8 // entry, zstd
	at90PTXPayload = 0x2f38
	at90Record     = 0x4090
	at90Addend     = 0x898 // of the relocation for the record's pointer
)

func u16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// TestC27 damages one field at a time.
func TestC27(t *testing.T) {
	for _, test := range []struct {
		name  string
		at    int
		bytes []byte
		want  []string // one substring for each problem
	}{
		{"unknown kind", at90Cubin, u16(0x7777), []string{"entry at offset 0x2038: kind 0x7777 is not read"}},
		{"entry version", at90Cubin + 2, u16(0x0102), []string{"0x2038: damaged: entry version 0x0102"}},
		{"short entry header", at90Cubin + 4, u32(56), []string{"0x2038: damaged: entry header claims 56 bytes"}},
		{"long entry header", at90Cubin + 4, u32(0xfffffff8), []string{"entry header claims 4294967288 bytes"}},
		{"payload beyond container", at90PTX + 8, u64(216), []string{"0x2ee8: damaged: entry claims a payload of 216 bytes, 208 are left"}},
		{"huge payload", at90PTX + 8, u64(1 << 63), []string{"payload of 9223372036854775808 bytes"}},
		{"short payload", at90PTX + 8, u64(200), []string{"compressed size 205 in a payload of 200 bytes"}},
		{"compressed size 0", at90PTX + 0x10, u32(0), []string{"compressed size 0"}},
		{"compressed size without flag", at90Cubin + 0x10, u32(9), []string{"without a compression flag"}},
		{"unknown flag", at90Cubin + 0x28, u64(0x40000011), []string{"entry at offset 0x2038: flags 0x40000000 are not known"}},
		{"obfuscated", at90PTX + 0x28, u64(0x18011), []string{"obfuscated PTX"}},
		{"two compressions", at90PTX + 0x28, u64(0xa011), []string{"two compressions"}},
		{"a and f", at90Cubin + 0x28, u64(0x300011), []string{"at once"}},
		{"decoded size 1 TiB", at90PTX + 0x38, u64(1 << 40), []string{"0x2ee8: damaged: entry claims 1099511627776 bytes uncompressed"}},
		{"decoded size 1 GiB", at90PTX + 0x38, u64(1 << 30), []string{"205 bytes cannot decompress to the 1073741824 claimed"}},
		{"decoded size 0", at90PTX + 0x38, u64(0), []string{"0x2ee8: damaged: entry is compressed and gives uncompressed size 0"}},
		{"decoded size too large", at90PTX + 0x38, u64(311), []string{"decompresses to 310 bytes, the entry claims 311"}},
		{"decoded size too small", at90PTX + 0x38, u64(309), []string{"more than the 309 bytes claimed"}},
		{"bad zstd", at90PTXPayload + 20, u64(0), []string{"entry at offset 0x2ee8: zstd data"}},
		{"zstd taken for LZ4", at90PTX + 0x28, u64(0x2011), []string{"LZ4 block"}},
		{"other target", at90Cubin + 0x1c, u32(89), []string{"the header names sm_89, the cubin is for sm_90"}},
		{"no target", at90Cubin + 0x1c, u32(0), []string{"target number 0"}},
		{"other suffix of cubin", at90Cubin + 0x28, u64(0x100011), []string{"the header names sm_90a, the cubin is for sm_90"}},
		{"other PTX target", at90PTX + 0x1c, u32(80), []string{"the header names compute_80, .target sm_90"}},
		{"other PTX suffix", at90PTX + 0x28, u64(0x108011), []string{"the header names compute_90a, .target sm_90"}},
		{"other PTX version", at90PTX + 0x18, u16(1), []string{"the header names PTX ISA 9.1, .version 9.0"}},
		{"unknown ABI", at90CubinELF + 8, []byte{9}, []string{"cubin ABI is not known"}},
		{"container magic", at90Container, u32(0), []string{"0x2028: damaged: no container", "0x2028: registered image damaged"}},
		{"container version", at90Container + 4, u16(2), []string{"container version 2", "registered image damaged"}},
		{"container header", at90Container + 6, u16(24), []string{"header of 24 bytes", "registered image damaged"}},
		{"container too large", at90Container + 8, u64(4056), []string{"container claims 4056 bytes, 4048 are there", "registered image damaged"}},
		{"container too small", at90Container + 8, u64(4040), []string{"0x2ee8: damaged: entry claims a payload of 208 bytes, 200 are left", "0x3000: damaged"}},
		{"container zeroed", at90Container, make([]byte, 0xfe0), []string{"damaged: 4064 zero bytes where a container should begin", "registered image damaged"}},
		{"record magic", at90Record, u32(0), []string{"0x4090: registration record: magic 0x00000000"}},
		{"record version", at90Record + 4, u32(3), []string{"version 3 is not known"}},
		{"record astray", at90Addend, u64(0x2030), []string{"0x2030: registered image damaged"}},
		{"record to nowhere", at90Addend, u64(1 << 40), []string{"address 0x10000000000, which is in no segment"}},
		{"record to other data", at90Addend, u64(0x2000), []string{".rodata 0x2000: registered image damaged"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := fixture(t, "cuda-13.0/v_90.so")
			copy(b[test.at:], test.bytes)
			got := problems(readString(t, string(b)))
			if len(got) < len(test.want) {
				t.Fatalf("problems %q, want %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("problem %q, want %q", got[i], want)
				}
			}
			if len(got) > len(test.want) {
				t.Errorf("more problems than wanted: %q", got[len(test.want):])
			}
		})
	}
}

// TestTruncation cuts files at every byte: what is left has a problem or is
// complete. A lone PTX text is not among them: nothing tells its length.
func TestTruncation(t *testing.T) {
	for _, name := range []string{
		"cuda-11.8/sm80_ptx80.fatbin",
		"cuda-11.8/sm90.cubin",
		"cuda-11.8/c19_all.so",
		"cuda-11.8/c13_archive.a",
		"cuda-13.0/v_c_size.so",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := string(fixture(t, name))
			whole := describe(readString(t, b))
			for n := range len(b) {
				f := readString(t, b[:n])
				if len(problems(f)) == 0 && !slices.Equal(describe(f), whole) {
					t.Fatalf("cut to %d of %d bytes it reads without a problem as %q", n, len(b), describe(f))
				}
			}
		})
	}
}

func TestNotDeviceCode(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{"", "the file is empty"},
		{"PK\x03\x04 and so on", "not a valid zip file"},
		{"\x7fELF", "damaged ELF file"},
		{"!<arch>\nx", "damaged static library: member header at offset 0x8 is cut off"},
		{"// .version 7.8\n", "other formats are not read"},
	} {
		f := readString(t, test.content)
		if !strings.Contains(f.Problem, test.want) || len(f.SHA256) != 64 {
			t.Errorf("%q: problem %q, want %q", test.content, f.Problem, test.want)
		}
	}
}

// TestC14 reads a thin library: the member outside is named.
func TestC14(t *testing.T) {
	f := readString(t, "!<thin>\n"+fmt.Sprintf("%-48s%-10d`\n", "k.o/", 3000))
	if got := problems(f); len(got) != 1 || !strings.Contains(got[0], `file "k.o" outside it`) {
		t.Errorf("problems %q", got)
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open(t.TempDir(), devicecode.Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folder: error %v", err)
	}
	pipe := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var at *fs.PathError
	if _, err := Open(pipe, devicecode.Options{}); !errors.As(err, &at) || at.Err != filemap.ErrNotRegular {
		t.Errorf("named pipe: error %v", err)
	}
	if _, err := Open(t.TempDir()+"/none", devicecode.Options{}); err == nil || !os.IsNotExist(err) {
		t.Errorf("missing file: error %v", err)
	}
}
