package cuobjdump

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

const (
	// keep bounds the output of one call: 48,000 kernels take 16 MB.
	keep = 256 << 20
	// limit bounds the time of one call. Lists of a 280 MB library take
	// seconds.
	limit = 2 * time.Minute
)

// Tool is a cuobjdump that answered.
type Tool tool.CUDA

// Find looks for cuobjdump beside nvcc, then in PATH.
func Find(ctx context.Context, nvcc string) (Tool, error) {
	t, err := tool.FindCUDA(ctx, "cuobjdump", nvcc)
	return Tool(t), err
}

// Read lists a file's images, by two calls at once. A call that fails in any
// way is an error; a file in which cuobjdump finds no device code is not, and
// gives an empty reading.
func (t Tool) Read(ctx context.Context, path string) (Reading, error) {
	path, remove, err := plainName(path)
	if err != nil {
		return Reading{}, err
	}
	defer remove()

	var (
		reading           Reading
		filesErr, symsErr error
		both              sync.WaitGroup
	)
	both.Go(func() { reading.Files, filesErr = t.list(ctx, readFiles, "-lelf", "-lptx", path) })
	both.Go(func() { reading.Symbols, symsErr = t.list(ctx, readSymbols, "-symbols", path) })
	both.Wait()
	return reading, cmp.Or(filesErr, symsErr)
}

// plainName gives a file another name, by a symbolic link: cuobjdump takes a
// name that begins with a dash for an option, and repeats names in its lists.
func plainName(path string) (link string, remove func(), err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "cudaproof-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	link = filepath.Join(dir, "file")
	if err := os.Symlink(absolute, link); err != nil {
		remove()
		return "", nil, err
	}
	return link, remove, nil
}

func (t Tool) list(ctx context.Context, read func(io.Reader) ([]Image, error), args ...string) ([]Image, error) {
	command := append([]string{t.Path, "-all"}, args...)
	shown := "cuobjdump -all " + strings.Join(args[:len(args)-1], " ")
	out := tool.NewBuffer(keep)
	r := tool.Run(ctx, tool.Command{Args: command, Timeout: limit, Stdout: out})
	if strings.Contains(r.Output, "does not contain device code") {
		return nil, nil // with exit code 255 in 11.8 and 13.0
	}
	if !r.OK() || strings.Contains(r.Output, "cuobjdump fatal") {
		return nil, fmt.Errorf("%s: %s", shown, reason(r, args[len(args)-1]))
	}
	if out.Dropped() > 0 {
		return nil, fmt.Errorf("%s prints more than %d MiB", shown, keep>>20)
	}
	images, err := read(strings.NewReader(out.String()))
	if err != nil {
		return nil, fmt.Errorf("output of %s, %w", shown, err)
	}
	return images, nil
}

// reason is how a call failed, with the last line that it said about the file.
func reason(r tool.Result, file string) string {
	lines := strings.Split(strings.TrimSpace(r.Output), "\n")
	last := strings.ReplaceAll(lines[len(lines)-1], file, "file")
	return strings.Trim(r.Failure()+", "+last, ", .")
}
