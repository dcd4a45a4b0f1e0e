package fatbin

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	// maxDecoded is the most that one payload may decode to, in bytes. The
	// largest seen anywhere is below 200 MB.
	maxDecoded = 1 << 30

	// No input decodes to more than this many times its size: an LZ4 length
	// byte adds at most 255, and a zstd block of 4 bytes makes at most 128 KiB
	// (RFC 8878, section 3.1.1.2.3). What claims more is damaged, and nothing
	// is allocated for it.
	maxRatioLZ4  = 255
	maxRatioZstd = 128 << 10 / 4
)

// zstdDecoder is safe for concurrent use by DecodeAll. It writes into the
// slice it is given and never grows it.
var zstdDecoder = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0),
		zstd.WithDecoderMaxMemory(maxDecoded),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // only for options out of range
	}
	return d
}()

// Decoder reads payloads and keeps its buffers for the next one. The zero value
// is ready; it is for one goroutine.
type Decoder struct{ stored, decoded []byte }

// Decode reads the payload of an entry and decompresses it. The result has
// exactly e.Decoded bytes, and is good until the next call.
func (d *Decoder) Decode(r io.ReaderAt, e Entry) ([]byte, error) {
	if e.Flags&LZ4 != 0 && e.Flags&Zstd != 0 {
		return nil, fmt.Errorf("flags %#x name two compressions", uint64(e.Flags))
	}
	if ratio := e.maxRatio(); e.Decoded/ratio > e.Stored {
		return nil, fmt.Errorf("%d bytes cannot decompress to the %d claimed", e.Stored, e.Decoded)
	}
	d.stored = resized(d.stored, e.Stored)
	if err := readFull(r, d.stored, e.Payload); err != nil {
		return nil, err
	}
	switch {
	case e.Flags&LZ4 != 0:
		d.decoded = resized(d.decoded, e.Decoded)
		return decodeLZ4(d.stored, d.decoded)
	case e.Flags&Zstd != 0:
		d.decoded = resized(d.decoded, e.Decoded)
		return decodeZstd(d.stored, d.decoded)
	}
	return d.stored, nil
}

// resized gives a buffer of n bytes, the one given where it is large enough.
func resized(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func (e Entry) maxRatio() int64 {
	switch {
	case e.Flags&LZ4 != 0:
		return maxRatioLZ4
	case e.Flags&Zstd != 0:
		return maxRatioZstd
	}
	return 1
}

func decodeLZ4(src, dst []byte) ([]byte, error) {
	size := len(dst)
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, fmt.Errorf("LZ4 block of %d bytes is damaged or holds more than the %d bytes claimed: %w", len(src), size, err)
	}
	return exact("LZ4", dst[:n], size)
}

func decodeZstd(src, dst []byte) ([]byte, error) {
	size := len(dst)
	dst, err := zstdDecoder.DecodeAll(src, dst[:0:size])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, fmt.Errorf("zstd data holds more than the %d bytes claimed", size)
	}
	if err != nil {
		return nil, fmt.Errorf("zstd data of %d bytes is damaged: %w", len(src), err)
	}
	return exact("zstd", dst, size)
}

func exact(what string, b []byte, size int) ([]byte, error) {
	if len(b) != size {
		return nil, fmt.Errorf("%s data decompresses to %d bytes, the entry claims %d", what, len(b), size)
	}
	return b, nil
}
