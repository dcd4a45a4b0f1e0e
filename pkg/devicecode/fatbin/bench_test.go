package fatbin

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// text is like the PTX of a large module.
var text = bytes.Repeat([]byte("\tld.param.u64 \t%rd1, [_Z4ninePi_param_0];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r1, 9;\n\tst.global.u32 \t[%rd2], %r1;\n"), 1<<15)

func BenchmarkDecodeLZ4(b *testing.B) {
	stored := make([]byte, lz4.CompressBlockBound(len(text)))
	n, err := lz4.CompressBlock(text, stored, nil)
	if err != nil || n == 0 {
		b.Fatal(n, err)
	}
	benchmarkDecode(b, stored[:n], LZ4)
}

func BenchmarkDecodeZstd(b *testing.B) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkDecode(b, w.EncodeAll(text, nil), Zstd)
}

func benchmarkDecode(b *testing.B, stored []byte, flag Flags) {
	e := Entry{Flags: flag, Stored: int64(len(stored)), Decoded: int64(len(text))}
	var d Decoder
	defer d.Close()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := d.Decode(stored, e); err != nil {
			b.Fatal(err)
		}
	}
}
