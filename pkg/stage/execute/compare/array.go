package compare

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const arrayMagic = "\x93NUMPY"

func isArray(b []byte) bool { return bytes.HasPrefix(b, []byte(arrayMagic)) }

// array is an array as NumPy writes it (NumPy Enhancement Proposal 1 and
// numpy.lib.format).
type array struct {
	descr string // "<f4": byte order, kind, bytes of an element
	shape string // "(3, 4)"
	// fortran says that the first index runs fastest.
	fortran bool
	data    []byte
	size    int // bytes of a number
	count   int // numbers: two for each complex element
	number  func([]byte) float64
}

var (
	descrField   = regexp.MustCompile(`'descr': *'([^']*)'`)
	fortranField = regexp.MustCompile(`'fortran_order': *(True|False)`)
	shapeField   = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

func arrays(got, want []byte, t Tolerance) (string, error) {
	g, err := readArray(got)
	if err != nil {
		return "", fmt.Errorf("the array found: %w", err)
	}
	w, err := readArray(want)
	if err != nil {
		return "", fmt.Errorf("the array expected: %w", err)
	}
	if g.descr != w.descr || g.shape != w.shape || g.fortran != w.fortran {
		return fmt.Sprintf("an array of type %s, shape %s%s, expected %s, %s%s", g.descr, g.shape, order(g), w.descr, w.shape, order(w)), nil
	}
	for n := range g.count {
		x, y := g.number(g.data[n*g.size:]), w.number(w.data[n*w.size:])
		if !t.equal(x, y) {
			return fmt.Sprintf("number %d of %d: found %v, expected %v", n, g.count, x, y), nil
		}
	}
	return "", nil
}

func order(a array) string {
	if a.fortran {
		return " in Fortran order"
	}
	return ""
}

func readArray(b []byte) (a array, err error) {
	header, data, err := splitArray(b)
	if err != nil {
		return a, err
	}
	descr, fortran, shape := descrField.FindStringSubmatch(header), fortranField.FindStringSubmatch(header), shapeField.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return a, fmt.Errorf("its header %.80q is not known", header)
	}
	a = array{descr: descr[1], shape: "(" + strings.TrimSuffix(strings.TrimSpace(shape[1]), ",") + ")", fortran: fortran[1] == "True", data: data}
	if a.size, a.number, err = numbers(a.descr); err != nil {
		return a, err
	}
	elements := 1
	for dimension := range strings.SplitSeq(shape[1], ",") {
		if dimension = strings.TrimSpace(dimension); dimension == "" {
			continue
		}
		n, err := strconv.Atoi(dimension)
		if err != nil || n > 0 && elements > len(data)/n {
			return a, fmt.Errorf("its shape %s does not fit its %d bytes", a.shape, len(data))
		}
		elements *= n
	}
	a.count = elements
	if a.descr[1] == 'c' {
		a.count *= 2
	}
	if a.count*a.size != len(data) {
		return a, fmt.Errorf("its shape %s of %s has %d bytes, %d are there", a.shape, a.descr, a.count*a.size, len(data))
	}
	return a, nil
}

// splitArray gives the text of the header and the data behind it.
func splitArray(b []byte) (header string, data []byte, err error) {
	const versionEnd = len(arrayMagic) + 2
	if !isArray(b) || len(b) < versionEnd+4 {
		return "", nil, errors.New("it is no NumPy array, or is cut off")
	}
	size, start := int(binary.LittleEndian.Uint16(b[versionEnd:])), versionEnd+2
	switch b[len(arrayMagic)] {
	case 1:
	case 2, 3:
		size, start = int(binary.LittleEndian.Uint32(b[versionEnd:])), versionEnd+4
	default:
		return "", nil, fmt.Errorf("format version %d is not known", b[len(arrayMagic)])
	}
	if size > len(b)-start {
		return "", nil, errors.New("its header is cut off")
	}
	return string(b[start : start+size]), b[start+size:], nil
}

// numbers gives the size in bytes of the numbers of a type, and how one is read.
// Integers beyond 2^53 lose their last digits.
func numbers(descr string) (size int, read func([]byte) float64, err error) {
	if len(descr) < 3 || !strings.ContainsRune("<>|", rune(descr[0])) {
		return 0, nil, fmt.Errorf("type %q is not read", descr)
	}
	var o binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		o = binary.BigEndian
	}
	reads := map[string]func([]byte) float64{
		"b1": func(b []byte) float64 { return float64(b[0]) },
		"u1": func(b []byte) float64 { return float64(b[0]) },
		"i1": func(b []byte) float64 { return float64(int8(b[0])) },
		"u2": func(b []byte) float64 { return float64(o.Uint16(b)) },
		"i2": func(b []byte) float64 { return float64(int16(o.Uint16(b))) },
		"u4": func(b []byte) float64 { return float64(o.Uint32(b)) },
		"i4": func(b []byte) float64 { return float64(int32(o.Uint32(b))) },
		"u8": func(b []byte) float64 { return float64(o.Uint64(b)) },
		"i8": func(b []byte) float64 { return float64(int64(o.Uint64(b))) },
		"f2": func(b []byte) float64 { return half(o.Uint16(b)) },
		"f4": func(b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) },
		"f8": func(b []byte) float64 { return math.Float64frombits(o.Uint64(b)) },
	}
	kind := map[string]string{"c8": "f4", "c16": "f8"}[descr[1:]]
	if kind == "" {
		kind = descr[1:]
	}
	read = reads[kind]
	if read == nil {
		return 0, nil, fmt.Errorf("type %q is not read", descr)
	}
	return int(kind[1] - '0'), read, nil
}

// half reads a number of 16 bits (IEEE 754 binary16).
func half(bits uint16) float64 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
