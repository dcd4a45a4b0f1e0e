package cuobjdump

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// maxLine bounds one line of output. A mangled name is one word of a line.
const maxLine = 1 << 20

// readFiles reads the output of `cuobjdump -all -lelf -lptx`:
//
//	ELF file    1: saxpy.1.sm_90.cubin
//	PTX file    1: saxpy.1.sm_90.ptx
//
// The name before the target comes from the file's own and may hold anything,
// so the target is read from the end.
func readFiles(r io.Reader) ([]Image, error) {
	var images []Image
	err := eachLine(r, func(line string) error {
		var kind devicecode.Kind
		switch {
		case line == "", strings.HasPrefix(line, "member "):
			return nil
		case strings.HasPrefix(line, "ELF file ") && strings.HasSuffix(line, ".cubin"):
			kind = devicecode.Cubin
		case strings.HasPrefix(line, "PTX file ") && strings.HasSuffix(line, ".ptx"):
			kind = devicecode.PTX
		default:
			return fmt.Errorf("unknown text %.80q", line)
		}
		name := line[:strings.LastIndexByte(line, '.')]
		t, err := target(kind, name[strings.LastIndexByte(name, '.')+1:])
		if err != nil {
			return err
		}
		images = append(images, Image{Kind: kind, Target: t})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return images, nil
}

// eachLine calls f for each line, and says at which line it ended on an error.
func eachLine(r io.Reader, f func(string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if err := f(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("after line %d: %w", n, err)
	}
	return nil
}
