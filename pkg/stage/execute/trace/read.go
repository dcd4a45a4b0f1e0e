package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The layout of a file, as cuda_src/trace/trace.cpp writes it.
const (
	magic      = "CPTRACE1"
	headerSize = 32
	recordSize = 8 // of the head of a record
)

// Kinds of records.
const (
	kindProcess = iota + 1
	kindVariable
	kindContext
	kindModule
	kindKernel
	kindFailure
	kindLibrary
	kindNotice
	kindVersions
)

// Read reads the file of one process. The process may have ended in any way: its
// file holds all records that were complete.
func Read(b []byte) (*Process, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return nil, errors.New("no trace: it does not begin with " + magic)
	}
	le := binary.LittleEndian
	used, lost, pid := le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	if used < headerSize || used > uint64(len(b)) {
		return nil, fmt.Errorf("trace claims %d bytes, %d are there", used, len(b))
	}
	p := &Process{PID: int(pid & 0x7fffffff), Lost: int(min(lost, 1<<31)), Variables: map[string]string{}}
	for at := uint64(headerSize); at < used; {
		if used-at < recordSize {
			return nil, fmt.Errorf("trace record at offset %#x is cut off", at)
		}
		kind, size := le.Uint32(b[at:]), uint64(le.Uint32(b[at+4:]))
		if size < recordSize || size%8 != 0 || size > used-at {
			return nil, fmt.Errorf("trace record at offset %#x claims %d bytes", at, size)
		}
		if err := p.record(kind, content{b: b[at+recordSize : at+size]}); err != nil {
			return nil, fmt.Errorf("trace record at offset %#x: %w", at, err)
		}
		at += size
	}
	return p, nil
}

func (p *Process) record(kind uint32, c content) error {
	switch kind {
	case kindProcess:
		p.Executable = c.text()
	case kindVariable:
		if name, value, ok := strings.Cut(c.text(), "="); ok {
			p.Variables[name] = value
		}
	case kindVersions:
		p.CUPTI, p.Driver = int(c.u32()), int(c.u32())
	case kindContext:
		p.Contexts = append(p.Contexts, Context{UID: int(c.u32()), Device: c.text()})
	case kindModule:
		p.Modules = append(p.Modules, Module{ID: int(c.u32()), Context: int(c.u32()), Size: c.count(), Image: c.text()})
	case kindKernel:
		k := Kernel{Launches: c.count(), GraphLaunches: c.count(), Context: int(c.u32()), Module: int(c.u32())}
		k.Name = c.text()
		p.Kernels = append(p.Kernels, k)
	case kindFailure:
		f := Failure{Count: c.count(), Code: int(c.u32())}
		f.Function, f.Name = c.text(), c.text()
		p.Failures = append(p.Failures, f)
	case kindLibrary:
		p.Libraries = append(p.Libraries, c.text())
	case kindNotice:
		p.Notices = append(p.Notices, c.text())
	default:
		return fmt.Errorf("kind %d is not known", kind)
	}
	return c.err
}

// content reads the content of a record from its start; the first error stays.
type content struct {
	b   []byte
	err error
}

func (c *content) take(n int) []byte {
	if len(c.b) < n {
		c.err = errors.New("it is cut off")
		c.b = make([]byte, n)
	}
	taken := c.b[:n]
	c.b = c.b[n:]
	return taken
}

func (c *content) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }

func (c *content) count() int64 { return int64(binary.LittleEndian.Uint64(c.take(8)) & (1<<63 - 1)) }

func (c *content) text() string {
	text, rest, ok := bytes.Cut(c.b, []byte{0})
	if !ok && c.err == nil {
		c.err = errors.New("a text does not end")
	}
	c.b = rest
	return string(text)
}
