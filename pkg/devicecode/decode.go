package devicecode

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
)

// Options say what is done beyond what a judgement of coverage needs.
type Options struct {
	// Digests fills Image.SHA256. It takes about as long as hashing all the
	// decoded bytes, which may be ten times the file.
	Digests bool
	// PTX, where set, is given each PTX text that could be read, and its SHA-256
	// where Digests asks for it. It is called from several goroutines at once; the
	// text is good during the call only.
	PTX func(sha256 string, text []byte)
}

// decoder reads the images of one object, several at once.
type decoder struct {
	options Options
	bytes   []byte // of the object
	tasks   []task
}

// task fills one image.
type task struct {
	image *Image
	read  func(*worker, *Image) error
}

// worker is what one goroutine of a decoder has to itself.
type worker struct {
	options Options
	bytes   []byte
	names   *nameCache
	payload fatbin.Decoder
}

// container gives a container whose images are filled by run.
func (d *decoder) container(c fatbin.Container, section string, role Role) Container {
	images := make([]Image, len(c.Entries))
	for n, e := range c.Entries {
		images[n] = newImage(e, role == Relocatable)
		d.tasks = append(d.tasks, task{&images[n], func(w *worker, i *Image) error { return w.readEntry(e, i) }})
	}
	return Container{Section: section, Offset: c.Offset, Size: c.Size, Role: role, Images: images}
}

// lone gives the container of one image that is a cubin or PTX text as it lies
// there.
func (d *decoder) lone(kind Kind, at, size int64, section string, role Role) Container {
	images := []Image{{Kind: kind, Offset: at, Size: size, DecodedSize: size}}
	d.tasks = append(d.tasks, task{&images[0], (*worker).readLone})
	return Container{Section: section, Offset: at, Size: size, Role: role, Images: images}
}

// run decodes and reads every image, the largest first: so no worker is left
// with a large one at the end, and the memory for the largest is free again
// before the names are many.
func (d *decoder) run() {
	slices.SortStableFunc(d.tasks, func(a, b task) int { return cmp.Compare(b.image.DecodedSize, a.image.DecodedSize) })
	var next atomic.Int64
	var workers sync.WaitGroup
	names := &nameCache{}
	for range min(runtime.GOMAXPROCS(0), len(d.tasks)) {
		workers.Go(func() {
			w := &worker{options: d.options, bytes: d.bytes, names: names}
			defer w.payload.Close()
			for n := int(next.Add(1)) - 1; n < len(d.tasks); n = int(next.Add(1)) - 1 {
				t := d.tasks[n]
				if err := Unfaulted(func() error { return t.read(w, t.image) }); err != nil {
					t.image.Problem = err.Error()
				}
			}
		})
	}
	workers.Wait()
}

// nameCache keeps each kernel's names once: it is in a file once for each
// target.
type nameCache struct{ kernels sync.Map } // Kernel by mangled name, without code

// kernel gives a kernel with its names.
func (c *nameCache) kernel(mangled string) Kernel {
	if k, ok := c.kernels.Load(mangled); ok {
		return k.(Kernel)
	}
	k := Kernel{Mangled: mangled, Name: Name(mangled)}
	c.kernels.Store(mangled, k)
	return k
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
