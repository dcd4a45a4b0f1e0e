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

	opCall         = 0x943 // CALL.ABS.NOINC to an address
	opCallRegister = 0x343 // CALL.ABS.NOINC to the address in a register
	opMov          = 0x802 // MOV of a number
	opLDC          = 0xb82
	opSTL          = 0x387
	opBPT          = 0x95c

	// maxTrapCode bounds the code that is looked at, in bytes: what only prints a
	// message and traps is far below.
	maxTrapCode = 2 << 10

	// BPT.TRAP 0x1, whole; the mode is in the second half.
	trapLow      = 0x000000040000795c
	trapMode     = 0x0000000000300000
	trapModeMask = 0x0000000000f00000
)

// passes are the opcodes that may come before a trap: they move and add numbers,
// or write to the kernel's own stack. Only those that our own kernels have there
// are listed; a kernel with another is not taken for a trap.
var passes = map[uint16]bool{
	0x202: true, opMov: true, 0xa02: true, 0xc02: true, // MOV
	0x210: true, 0x810: true, 0xa10: true, 0xc10: true, // IADD3
	0x34e: true, 0x94e: true, // LEPC
	opSTL: true,                           // STL
	0x424: true, 0x624: true, 0xe24: true, // IMAD.MOV, IMAD.U32, IMAD.X
	0x431: true, 0x435: true, // HFMA2
	0x7ac: true, 0xab9: true, // LDCU, ULDC
	0x805: true, // CS2R
	0x836: true, // VIADD
	0x882: true, // UMOV
	0x918: true, // NOP
	opLDC: true,
	0xc35: true, // IADD.64
}

// elsewhere are those of them that write to no register, or to another set.
var elsewhere = map[uint16]bool{opSTL: true, 0x7ac: true, 0xab9: true, 0x882: true, 0x918: true}

// straight follows the code of a kernel from its first instruction on.
type straight struct {
	// symbol gives the name that the relocation of a section at an offset has.
	symbol  func(section string, offset uint64) string
	numbers map[byte]uint64 // in registers
	// addresses are registers that hold what is loaded from an offset of the
	// constant bank 4, where the addresses of functions are.
	addresses map[byte]uint64
}

// zero is the register that is always 0.
const zero = 255

// traps reports whether the code runs straight into a trap: nothing is executed
// but what passes and calls to printf, until BPT.TRAP.
func (s *straight) traps(text string, code []byte) bool {
	le := binary.LittleEndian
	if len(code) > maxTrapCode || !bytes.Contains(code, le.AppendUint64(nil, trapLow)) {
		return false
	}
	s.numbers, s.addresses = map[byte]uint64{zero: 0}, map[byte]uint64{}
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
			if s.symbol(text, uint64(at)) != "vprintf" {
				return false
			}
		case op == opCallRegister:
			offset, ok := s.addresses[byte(low>>24)]
			if !ok || s.symbol(".nv.constant4", offset) != "vprintf" {
				return false
			}
		case !passes[op]:
			return false
		default:
			s.execute(op, low)
		}
	}
	return false
}

// wide are the opcodes that may write to the next register too.
var wide = map[uint16]bool{0x805: true, opLDC: true, 0xc35: true}

// execute notes what an instruction leaves in its registers, as far as it
// matters.
func (s *straight) execute(op uint16, low uint64) {
	if elsewhere[op] {
		return
	}
	base, known := s.numbers[byte(low>>24)]
	to := byte(low >> 16)
	s.forget(to)
	if wide[op] {
		s.forget(to + 1)
	}
	switch bank := low >> 54 & 0x1f; {
	case op == opMov:
		s.numbers[to] = low >> 32
	case op == opLDC && bank == 4 && known:
		s.addresses[to] = base + low>>38&0xffff
	}
}

func (s *straight) forget(register byte) {
	if register != zero {
		delete(s.numbers, register)
		delete(s.addresses, register)
	}
}

// Relocation sections have type 4 (RELA) or 9 (REL); the name of the section that
// they are for follows ".rela" or ".rel".
const (
	sectionRela = 4
	sectionRel  = 9
)

// symbolAt gives the name of the symbol that the relocation at an offset of a
// section names, empty where there is none.
func symbolAt(sections []section, symtab section, of string, offset uint64) string {
	for _, s := range sections {
		size := map[uint32]int{sectionRela: 24, sectionRel: 16}[s.typ]
		if size == 0 || !isName(s.name, ".rela", of) && !isName(s.name, ".rel", of) {
			continue
		}
		for b := s.data; len(b) >= size; b = b[size:] {
			if binary.LittleEndian.Uint64(b) == offset {
				return symbolName(sections, symtab, binary.LittleEndian.Uint32(b[12:]))
			}
		}
	}
	return ""
}

func isName(name []byte, prefix, of string) bool {
	rest, ok := bytes.CutPrefix(name, []byte(prefix))
	return ok && string(rest) == of
}

func symbolName(sections []section, symtab section, n uint32) string {
	entry, ok := slice(symtab.data, uint64(n)*symbolSize, symbolSize)
	if !ok || int64(symtab.link) >= int64(len(sections)) {
		return ""
	}
	s, err := readSymbol(entry, sections[symtab.link].data)
	if err != nil {
		return ""
	}
	return string(s.name)
}
