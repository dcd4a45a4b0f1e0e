package compare

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// npy makes an array as numpy.save writes it.
func npy(descr, shape string, fortran bool, values ...any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte(arrayMagic+"\x01\x00"), byte(len(header)), byte(len(header)>>8))
	b = append(b, header...)
	var o binary.AppendByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		o = binary.BigEndian
	}
	for _, v := range values {
		switch v := v.(type) {
		case float32:
			b = o.AppendUint32(b, math.Float32bits(v))
		case float64:
			b = o.AppendUint64(b, math.Float64bits(v))
		case uint16:
			b = o.AppendUint16(b, v)
		case int32:
			b = o.AppendUint32(b, uint32(v))
		case int8:
			b = append(b, byte(v))
		}
	}
	return b
}

func TestDifference(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	one := npy("<f4", "(2,)", false, float32(1), float32(2))
	for _, test := range []struct {
		name      string
		got, want []byte
		tolerance Tolerance
		says      string // empty for equal
	}{
		{"equal", one, one, Tolerance{}, ""},
		{"close", npy("<f4", "(2,)", false, float32(1.001), float32(2)), one, Tolerance{Rtol: 0.01}, ""},
		{"not close", npy("<f4", "(2,)", false, float32(1), float32(2.1)), one, Tolerance{Rtol: 0.01}, "number 1 of 2: found 2.0999999046325684, expected 2"},
		{"absolute", npy("<f4", "(2,)", false, float32(1.5), float32(2)), one, Tolerance{Atol: 0.5}, ""},
		{"relative to the wanted", npy("<f8", "()", false, 100.0), npy("<f8", "()", false, 90.0), Tolerance{Rtol: 0.1}, "found 100, expected 90"},
		{"type", npy("<f8", "(2,)", false, 1.0, 2.0), one, Tolerance{}, "an array of type <f8, shape (2), expected <f4, (2)"},
		{"shape", npy("<f4", "(1, 2)", false, float32(1), float32(2)), one, Tolerance{}, "shape (1, 2), expected <f4, (2)"},
		{"order", npy("<f4", "(2,)", true, float32(1), float32(2)), one, Tolerance{}, "in Fortran order"},
		{"NaN", npy("<f4", "(1,)", false, nan), npy("<f4", "(1,)", false, nan), Tolerance{}, "found NaN, expected NaN"},
		{"equal NaN", npy("<f4", "(1,)", false, nan), npy("<f4", "(1,)", false, nan), Tolerance{EqualNaN: true}, ""},
		{"NaN for a number", npy("<f4", "(1,)", false, nan), npy("<f4", "(1,)", false, float32(1)), Tolerance{EqualNaN: true, Rtol: 9}, "found NaN"},
		{"infinity", npy("<f4", "(1,)", false, inf), npy("<f4", "(1,)", false, inf), Tolerance{}, ""},
		{"infinity for a number", npy("<f4", "(1,)", false, inf), npy("<f4", "(1,)", false, float32(1)), Tolerance{Rtol: 9}, "found +Inf"},
		{"half", npy("<f2", "(3,)", false, uint16(0x3c00), uint16(0xc000), uint16(0x0001)), npy("<f2", "(3,)", false, uint16(0x3c01), uint16(0xc000), uint16(0x0001)), Tolerance{}, "found 1, expected 1.0009765625"},
		{"big-endian", npy(">f4", "(1,)", false, float32(1)), npy(">f4", "(1,)", false, float32(3)), Tolerance{}, "found 1, expected 3"},
		{"integers", npy("<i4", "(1,)", false, int32(-5)), npy("<i4", "(1,)", false, int32(-4)), Tolerance{Atol: 1}, ""},
		{"bytes", npy("|i1", "(1,)", false, int8(-1)), npy("|i1", "(1,)", false, int8(1)), Tolerance{}, "found -1, expected 1"},
		{"complex", npy("<c8", "(1,)", false, float32(1), float32(2)), npy("<c8", "(1,)", false, float32(1), float32(3)), Tolerance{}, "number 1 of 2"},
		{"text", []byte("sum: 1.0001\n  n 3"), []byte("sum: 1.0 n 3\n"), Tolerance{Rtol: 1e-3}, ""},
		{"text not close", []byte("a 1\nb 1.5"), []byte("a 1\nb 1"), Tolerance{Rtol: 1e-3}, `word 4, line 2: found "1.5", expected "1"`},
		{"other word", []byte("a 1"), []byte("b 1"), Tolerance{Rtol: 9}, `word 1, line 1: found "a", expected "b"`},
		{"shorter", []byte("1 2"), []byte("1 2 3"), Tolerance{}, `word 3: found the end, expected "3"`},
		{"longer", []byte("1 2 3"), []byte("1 2"), Tolerance{}, `word 3: found "3", expected the end`},
		{"empty", nil, nil, Tolerance{}, ""},
	} {
		got, err := Difference(test.got, test.want, test.tolerance)
		if err != nil || (test.says == "") != (got == "") || !strings.Contains(got, test.says) {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.says)
		}
	}
}

func TestArrayErrors(t *testing.T) {
	good := npy("<f4", "(2,)", false, float32(1), float32(2))
	for name, b := range map[string][]byte{
		"text":             []byte("1 2"),
		"cut header":       good[:40],
		"cut data":         good[:len(good)-1],
		"version":          append([]byte(arrayMagic+"\x09\x00"), good[8:]...),
		"type":             npy("<U4", "(1,)", false),
		"huge shape":       npy("<f4", "(4294967296, 4294967296)", false),
		"objects":          npy("|O", "(1,)", false),
		"negative in text": npy("<f4", "(-1,)", false),
	} {
		if got, err := Difference(b, good, Tolerance{}); err == nil {
			t.Errorf("%s: %q, want an error", name, got)
		}
	}
}

// FuzzDifference wants what equals itself, or an error.
func FuzzDifference(f *testing.F) {
	f.Add(npy("<f4", "(2,)", false, float32(1), float32(2)))
	f.Add(npy(">c16", "(1, 1)", true, 1.0, 2.0))
	f.Add([]byte("a 1.5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := Difference(b, b, Tolerance{EqualNaN: true}); err == nil && got != "" {
			t.Fatalf("it differs from itself: %s", got)
		}
	})
}
