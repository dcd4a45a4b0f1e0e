package ptx

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

func TestMarks(t *testing.T) {
	text := []byte("{a} b \"c\" // d {{}}/")
	var got []int
	var m marks
	for pos := m.next(text, 0); pos < len(text); pos = m.next(text, pos+1) {
		got = append(got, pos)
	}
	var want []int
	for i, c := range text {
		if bytes.IndexByte([]byte(marked), c) >= 0 {
			want = append(want, i)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A block with everything that can hide its end.
func TestSkipBlock(t *testing.T) {
	for _, block := range []string{
		"{}", "{ {} { } }", "{ // }\n }", "{ /* } */ }", `{ ".file }" }`, `{ "\\"}" }`, "{ a / b }", "{ a // b", "{ /* } ", `{ "}`, "{ {}",
	} {
		s := scanner{b: []byte(block + "x")}
		if _, err := s.next(); err != nil {
			t.Fatal(err)
		}
		fast := s
		errFast := fast.skipBlock()
		errSlow := slowSkipBlock(&s)
		if (errFast == nil) != (errSlow == nil) || errFast == nil && fast.pos != s.pos {
			t.Errorf("%s: at %d, %v; token by token at %d, %v", block, fast.pos, errFast, s.pos, errSlow)
		}
	}
}

// slowSkipBlock is skipBlock token by token.
func slowSkipBlock(s *scanner) error {
	for depth := 1; depth > 0; {
		tok, err := s.next()
		switch {
		case err != nil:
			return err
		case tok == nil:
			return fmt.Errorf("not closed")
		case tok[0] == '{':
			depth++
		case tok[0] == '}':
			depth--
		}
	}
	return nil
}

func FuzzSkipBlock(f *testing.F) {
	f.Add([]byte("{ // }\n /* } */ \"}\" / }"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scanner{b: append([]byte("{"), b...)}
		if _, err := s.next(); err != nil {
			t.Fatal(err)
		}
		fast := s
		errFast, errSlow := fast.skipBlock(), slowSkipBlock(&s)
		if (errFast == nil) != (errSlow == nil) || errFast == nil && fast.pos != s.pos {
			t.Errorf("at %d, %v; token by token at %d, %v", fast.pos, errFast, s.pos, errSlow)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	body := bytes.Repeat([]byte("\tmad.lo.s32 \t%r1, %r2, %r3, %r4;\n"), 1000)
	var text bytes.Buffer
	text.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for i := range 100 {
		fmt.Fprintf(&text, ".visible .entry k%d()\n{\n%s}\n", i, body)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
