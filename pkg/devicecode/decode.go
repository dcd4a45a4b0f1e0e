package devicecode

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
)

// Options say what is done beyond what a judgement of coverage needs.
type Options struct {
	// Digests fills Image.SHA256. It takes about as long as hashing all the
	// decoded bytes, which may be ten times the file.
	Digests bool
}

// decoder reads the images of containers, several at once.
type decoder struct {
	options Options
	tasks   []task
}

// worker is what one goroutine of a decoder has to itself.
type worker struct {
	options Options
	names   *nameCache
	payload fatbin.Decoder
}

type task struct {
	entry fatbin.Entry
	image *Image
}

// container gives a container whose images are filled by run.
func (d *decoder) container(c fatbin.Container, section string, role Role) Container {
	images := make([]Image, len(c.Entries))
	for i, e := range c.Entries {
		images[i] = newImage(e, role == Relocatable)
		d.tasks = append(d.tasks, task{e, &images[i]})
	}
	return Container{Section: section, Offset: c.Offset, Size: c.Size, Role: role, Images: images}
}

// run decodes and reads every image.
func (d *decoder) run(r io.ReaderAt) {
	var next atomic.Int64
	var workers sync.WaitGroup
	names := &nameCache{}
	for range min(runtime.GOMAXPROCS(0), len(d.tasks)) {
		workers.Go(func() {
			w := worker{options: d.options, names: names}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(d.tasks) {
					return
				}
				w.read(r, d.tasks[i].entry, d.tasks[i].image)
			}
		})
	}
	workers.Wait()
}

// nameCache keeps demangled names: a kernel is in a file once for each target.
type nameCache struct{ names sync.Map }

func (c *nameCache) name(mangled string) string {
	if name, ok := c.names.Load(mangled); ok {
		return name.(string)
	}
	name := Name(mangled)
	c.names.Store(mangled, name)
	return name
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
