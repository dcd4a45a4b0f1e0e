package cubin

import (
	"bytes"
	"encoding/binary"
)

// firstTraps is the oldest target whose instructions are known here: from sm_70
// on they have 128 bits.
const firstTraps = 70

// An instruction has its opcode in bits 0 to 11 and its predicate in bits 12 to
// 15: 7 is always, 15 never. Seen with nvdisasm in our own kernels, of nvcc 11.8
// for sm_70 to sm_90 and of nvcc 13.0 for sm_75 to sm_121 (testdata/traps.cu).
const (
	instructionSize = 16

	always = 7
	never  = 15

	opCall = 0x943 // CALL.ABS.NOINC to an address
	opBPT  = 0x95c

	// BPT.TRAP 0x1, whole; the mode is in the second half.
	trapLow      = 0x000000040000795c
	trapMode     = 0x0000000000300000
	trapModeMask = 0x0000000000f00000
)

// passes are the opcodes that may come before a trap: they move and add numbers,
// or write to the kernel's own stack. Only those that our own kernels have there
// are listed; a kernel with another is not taken for a trap.
var passes = map[uint16]bool{
	0x210: true, 0x810: true, 0xa10: true, 0xc10: true, // IADD3
	0x387: true,              // STL
	0x424: true, 0x624: true, // IMAD.MOV, IMAD.X
	0xe24: true,                           // IMAD.U32
	0x435: true,                           // HFMA2.MMA
	0x802: true, 0xa02: true, 0xc02: true, // MOV
	0x805: true, // CS2R
	0x882: true, // UMOV
	0x918: true, // NOP
	0xab9: true, // ULDC
	0xb82: true, // LDC
}

// traps reports whether the code of a kernel runs straight into a trap: from its
// first instruction on, nothing is executed but what passes and calls to printf,
// until BPT.TRAP. calls gives the name of the function that is called at an
// offset.
func traps(code []byte, calls func(offset int) string) bool {
	le := binary.LittleEndian
	for at := 0; at+instructionSize <= len(code); at += instructionSize {
		low, high := le.Uint64(code[at:]), le.Uint64(code[at+8:])
		op, predicate := uint16(low&0xfff), low>>12&0xf
		switch {
		case predicate == never:
		case predicate != always:
			return false
		case op == opBPT:
			return low == trapLow && high&trapModeMask == trapMode
		case op == opCall:
			if calls(at) != "vprintf" {
				return false
			}
		case !passes[op]:
			return false
		}
	}
	return false
}

// Relocation sections have type 4 (RELA) or 9 (REL); the name of the section that
// they are for follows ".rela" or ".rel".
const (
	sectionRela = 4
	sectionRel  = 9
)

// callee gives the name of the function that the relocation at an offset of a
// section names, empty where there is none.
func callee(sections []section, symtab section, of section, offset int) string {
	for _, s := range sections {
		size := map[uint32]int{sectionRela: 24, sectionRel: 16}[s.typ]
		if size == 0 || !bytes.HasSuffix(s.name, of.name) || len(s.name) > len(of.name)+len(".rela") {
			continue
		}
		for b := s.data; len(b) >= size; b = b[size:] {
			if binary.LittleEndian.Uint64(b) != uint64(offset) {
				continue
			}
			symbol := binary.LittleEndian.Uint32(b[12:])
			entry, ok := slice(symtab.data, uint64(symbol)*symbolSize, symbolSize)
			if !ok || int64(symtab.link) >= int64(len(sections)) {
				return ""
			}
			called, err := readSymbol(entry, sections[symtab.link].data)
			if err != nil {
				return ""
			}
			return string(called.name)
		}
	}
	return ""
}
