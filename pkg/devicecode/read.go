package devicecode

import (
	"fmt"
	"io"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
	"github.com/cudaproof/cudaproof/pkg/devicecode/scan"
)

// ReadELF reads the device code in an ELF file of the host. What cannot be
// read is in the problems of the code and of its images.
func ReadELF(f *hostelf.File, o Options) Code {
	found := scan.ELF(f)
	var code Code
	for _, p := range found.Problems {
		code.Problems = append(code.Problems, Problem(p))
	}
	d := decoder{options: o}
	for _, p := range found.Places {
		code.Containers = append(code.Containers, d.container(p.Container, p.Section, role(p, found.Linked)))
	}
	d.run(f.Reader)
	return code
}

// role tells how the runtime gets at a container. In an object the records may
// be incomplete, so the section decides where none points at it.
func role(p scan.Place, linked bool) Role {
	switch {
	case p.Record == 2:
		return DeviceLinked
	case p.Record == 0 && linked:
		return Unregistered
	case p.Section == scan.Relocatable:
		return Relocatable
	case p.Record == 1 || p.Section == scan.Fatbin:
		return WholeProgram
	}
	return Unregistered
}

// ReadFatbin reads a file that is a fatbin container, or several one after
// another.
func ReadFatbin(r io.ReaderAt, size int64, o Options) Code {
	var code Code
	d := decoder{options: o}
	for off := int64(0); off < size; {
		c, err := fatbin.ReadContainer(r, off, size)
		if err != nil {
			at, text := fatbin.Where(err, off)
			code.Problems = append(code.Problems, Problem{Offset: at, Text: "damaged: " + text})
		}
		if c.Size == 0 {
			break
		}
		code.Containers = append(code.Containers, d.container(c, "", RawFile))
		off += c.Size
	}
	d.run(r)
	return code
}

// ReadCubin reads a file that is a cubin.
func ReadCubin(r io.ReaderAt, size int64, o Options) Code {
	return readLone(r, size, o, Cubin, (*Image).readCubinFile)
}

// ReadPTX reads a file that is a PTX text. Nothing in such a file tells its
// length: one that was cut off between two functions reads as a shorter one.
func ReadPTX(r io.ReaderAt, size int64, o Options) Code {
	return readLone(r, size, o, PTX, (*Image).readPTXFile)
}

// maxLone bounds a lone cubin or PTX file, which is read as a whole.
const maxLone = 1 << 30

func readLone(r io.ReaderAt, size int64, o Options, kind Kind, read func(*Image, []byte) error) Code {
	if size > maxLone {
		return Code{Problems: []Problem{{Text: fmt.Sprintf("%s file of %d bytes, at most %d are read", kind, size, maxLone)}}}
	}
	i := Image{Kind: kind, Size: size, DecodedSize: size}
	b := make([]byte, size)
	n, err := r.ReadAt(b, 0)
	if n == len(b) {
		if o.Digests {
			i.SHA256 = hash(b)
		}
		err = read(&i, b)
	}
	if err != nil {
		i.Problem = err.Error()
	}
	return Code{Containers: []Container{{Size: size, Role: RawFile, Images: []Image{i}}}}
}
