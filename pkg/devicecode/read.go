package devicecode

import (
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
	"github.com/cudaproof/cudaproof/pkg/devicecode/scan"
)

// ReadELF reads the device code in an ELF file of the host. What cannot be
// read is in the problems of the code and of its images.
func ReadELF(f *hostelf.File, o Options) Code {
	return readFound(f.Bytes, scan.ELF(f), o)
}

// ReadBytes reads the device code anywhere in bytes of no known format.
func ReadBytes(b []byte, o Options) Code {
	return readFound(b, scan.Bytes(b), o)
}

func readFound(b []byte, found scan.Result, o Options) Code {
	var code Code
	for _, p := range found.Problems {
		code.Problems = append(code.Problems, Problem(p))
	}
	d := decoder{options: o, bytes: b}
	for _, p := range found.Places {
		code.Containers = append(code.Containers, d.place(p, role(p, found.Linked)))
	}
	d.run()
	for n := range code.Containers {
		code.Containers[n].settleRole()
	}
	return code
}

func (d *decoder) place(p scan.Place, role Role) Container {
	switch p.Lone {
	case scan.Cubin:
		return d.lone(Cubin, p.Offset, p.Size, p.Section, role)
	case scan.PTX:
		return d.lone(PTX, p.Offset, p.Size, p.Section, role)
	}
	return d.container(p.Container, p.Section, role)
}

// role tells how the runtime gets at a container. In an object the records may
// be incomplete, so the section decides where none points at it.
func role(p scan.Place, linked bool) Role {
	switch {
	case p.Record == 2:
		return DeviceLinked
	case p.Record == 0 && linked:
		return Unregistered
	case p.Section == scan.Relocatable, p.Section == scan.Offload:
		return Relocatable
	case p.Record == 1 || p.Section == scan.Fatbin:
		return WholeProgram
	}
	return Unregistered
}

// settleRole tells an input of a device link by its images where the section
// does not: in a file without section headers, or in a renamed section.
func (c *Container) settleRole() {
	if c.Role != WholeProgram || c.Section == scan.Fatbin {
		return
	}
	for _, i := range c.Images {
		if i.Kind == Cubin && i.Relocatable {
			c.Role = Relocatable
		}
	}
	for n := range c.Images {
		c.Images[n].Relocatable = c.Images[n].Relocatable || c.Role == Relocatable
	}
}

// ReadFatbin reads a file that is a fatbin container, or several one after
// another.
func ReadFatbin(b []byte, o Options) Code {
	var code Code
	d := decoder{options: o, bytes: b}
	for off, end := int64(0), int64(len(b)); off < end; {
		c, err := fatbin.ReadContainer(b, off, end)
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
	d.run()
	return code
}

// ReadCubin reads a file that is a cubin.
func ReadCubin(b []byte, o Options) Code { return readLone(b, o, Cubin) }

// ReadPTX reads a file that is a PTX text. Nothing in such a file tells its
// length: one that was cut off between two functions reads as a shorter one.
func ReadPTX(b []byte, o Options) Code { return readLone(b, o, PTX) }

func readLone(b []byte, o Options, kind Kind) Code {
	d := decoder{options: o, bytes: b}
	code := Code{Containers: []Container{d.lone(kind, 0, int64(len(b)), "", RawFile)}}
	d.run()
	return code
}
