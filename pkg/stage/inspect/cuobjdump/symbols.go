package cuobjdump

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// blocks gives the kind of an image by the head of its block.
var blocks = map[string]devicecode.Kind{
	"elf":  devicecode.Cubin,
	"ptx":  devicecode.PTX,
	"nvvm": devicecode.LTOIR,
}

// readSymbols reads the output of `cuobjdump -all -symbols`, one block per
// image:
//
//	Fatbin elf code:
//	================
//	arch = sm_90
//	code version = [1,8]
//	...
//	symbols:
//	STT_FUNC         STB_GLOBAL STO_ENTRY      _Z5saxpyPf
//
// A file that is itself a cubin has no head, only the symbols.
func readSymbols(r io.Reader) ([]Image, error) {
	var p symbolParser
	if err := eachLine(r, p.line); err != nil {
		return nil, err
	}
	if err := p.close(); err != nil {
		return nil, fmt.Errorf("at the end: %w", err)
	}
	return p.images, nil
}

type symbolParser struct {
	images []Image
	// inHead says that the last image's head is being read, inSymbols that its
	// symbols are.
	inHead, inSymbols bool
}

func (p *symbolParser) line(line string) error {
	if name, ok := blockName(line); ok {
		return p.open(name)
	}
	switch {
	case line == "":
		return nil
	case strings.HasPrefix(line, "member "):
		return p.close()
	case line == "symbols:":
		return p.openSymbols()
	case p.inSymbols:
		return p.symbol(line)
	case p.inHead:
		return p.head(line)
	}
	return fmt.Errorf("unknown text %.80q", line)
}

// blockName reads "Fatbin elf code:".
func blockName(line string) (string, bool) {
	name, ok := strings.CutPrefix(line, "Fatbin ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " code:")
}

func (p *symbolParser) open(name string) error {
	if err := p.close(); err != nil {
		return err
	}
	kind, ok := blocks[name]
	if !ok {
		kind = devicecode.Kind(name)
	}
	p.images = append(p.images, Image{Kind: kind})
	p.inHead = true
	return nil
}

// close ends the last block, which must have named its target.
func (p *symbolParser) close() error {
	if p.inHead {
		last := p.last()
		if last.Target.Number == 0 && classes[last.Kind] != "" {
			return fmt.Errorf("an image of kind %s without a target", last.Kind)
		}
	}
	p.inHead, p.inSymbols = false, false
	return nil
}

func (p *symbolParser) openSymbols() error {
	if !p.inHead && !p.inSymbols {
		p.images = append(p.images, Image{Kind: devicecode.Cubin})
	}
	p.inSymbols = true
	return nil
}

func (p *symbolParser) last() *Image { return &p.images[len(p.images)-1] }

// head reads a line such as "arch = sm_90". Lines that say nothing about kind
// or target (host, size, compression, options) are passed over.
func (p *symbolParser) head(line string) error {
	key, value, _ := strings.Cut(line, " = ")
	image := p.last()
	switch key {
	case "arch":
		if classes[image.Kind] == "" {
			return nil
		}
		var err error
		image.Target, err = target(image.Kind, value)
		return err
	case "code version":
		if image.Kind != devicecode.PTX {
			return nil
		}
		var major, minor int
		if _, err := fmt.Sscanf(value, "[%d,%d]", &major, &minor); err != nil {
			return fmt.Errorf("PTX version %.20q: want [major,minor]", value)
		}
		image.PTXVersion = fmt.Sprintf("%d.%d", major, minor)
	}
	return nil
}

// symbol reads a line such as "STT_FUNC STB_GLOBAL STO_ENTRY name". Only entry
// functions are kept.
func (p *symbolParser) symbol(line string) error {
	fields := strings.Fields(line)
	if !strings.HasPrefix(line, "STT_") {
		return fmt.Errorf("unknown symbol %.80q", line)
	}
	if fields[0] != "STT_FUNC" || !slices.Contains(fields, "STO_ENTRY") {
		return nil
	}
	if len(fields) != 4 {
		return fmt.Errorf("entry function %.80q: want type, binding, STO_ENTRY and name", line)
	}
	p.last().Kernels = append(p.last().Kernels, fields[3])
	return nil
}
