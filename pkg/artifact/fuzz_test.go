package artifact

import (
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"path/filepath"
	"testing"
)

// FuzzRead wants a result for any bytes: read completely, or with a problem,
// never a panic. Files of a real size are added so that mutation starts from
// every format.
func FuzzRead(f *testing.F) {
	for _, name := range []string{
		"cuda-11.8/sm80_ptx80.fatbin", "cuda-11.8/sm90.cubin", "cuda-11.8/compute80.ptx", "cuda-11.8/c13_archive.a",
		"cuda-11.8/c11_rdc_sm90_ptx90", "cuda-11.8/relocatable80.o", "cuda-13.0/v_c_size.so", "cuda-13.0/v_120f.so",
	} {
		f.Add(string(fixture(f, filepath.FromSlash(name))))
	}
	f.Fuzz(func(t *testing.T, data string) {
		file, err := Read([]byte(data), "fuzz", devicecode.Options{Digests: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Objects) == 0 && file.Problem == "" {
			t.Fatal("neither an object nor a problem")
		}
		for _, o := range file.Objects {
			for _, c := range o.Code.Containers {
				for _, i := range c.Images {
					if i.Problem == "" && i.SHA256 == "" && !i.Obfuscated {
						t.Fatalf("image at %#x without hash or problem", i.Offset)
					}
					if i.Size < 0 || i.Offset < 0 || i.Offset+i.Size > int64(len(data)) {
						t.Fatalf("image at %#x of %d bytes lies outside the file", i.Offset, i.Size)
					}
				}
			}
		}
	})
}
