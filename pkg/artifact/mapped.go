package artifact

import (
	"io"
	"os"
	"syscall"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// mapped calls do with the content of a file, mapped into memory where the file
// system can do that. The bytes are good until it returns.
func mapped(f *os.File, do func([]byte)) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := int(info.Size())
	if size == 0 {
		do(nil)
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		b = make([]byte, size)
		if _, err := io.ReadFull(f, b); err != nil {
			return err
		}
		do(b)
		return nil
	}
	defer func() { _ = syscall.Munmap(b) }()
	return devicecode.Unfaulted(func() error { do(b); return nil })
}
