package fatbin

import (
	"errors"
	"fmt"

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

// Decoder decompresses payloads and keeps its buffer for the next one. The zero
// value is ready; it is for one goroutine, which calls Close at the end.
type Decoder struct{ buffer buffer }

// Close gives the buffer back: what Decode gave is no longer good.
func (d *Decoder) Close() { d.buffer.free() }

// Decode gives the payload of an entry of b as it was before compression, which
// has exactly e.Decoded bytes. One that is not compressed is given where it
// lies; another is good until the next call.
func (d *Decoder) Decode(b []byte, e Entry) ([]byte, error) {
	if e.Flags&LZ4 != 0 && e.Flags&Zstd != 0 {
		return nil, fmt.Errorf("flags %#x name two compressions", uint64(e.Flags))
	}
	if ratio := e.maxRatio(); e.Decoded/ratio > e.Stored {
		return nil, fmt.Errorf("%d bytes cannot decompress to the %d claimed", e.Stored, e.Decoded)
	}
	stored := b[e.Payload : e.Payload+e.Stored]
	switch {
	case e.Flags&LZ4 != 0:
		return decodeLZ4(stored, d.buffer.sized(e.Decoded))
	case e.Flags&Zstd != 0:
		return decodeZstd(stored, d.buffer.sized(e.Decoded))
	}
	return stored, nil
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
