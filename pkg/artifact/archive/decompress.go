package archive

import (
	"compress/bzip2"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// maxWindow bounds the memory that a decompressor takes, in bytes: what the
// strongest presets of xz (64 MiB) and zstd (128 MiB) need.
const maxWindow = 128 << 20

// zstdOptions make a decoder that reads only when it is read from: what it reads
// may count against a budget that another reader counts against too.
var zstdOptions = []zstd.DOption{zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1)}

// decompress gives what a compressed stream holds, concatenated ones included.
func decompress(format Format, r io.Reader) (out io.Reader, done func(), err error) {
	done = func() {}
	switch format {
	case Gzip:
		out, err = gzip.NewReader(r)
	case Xz:
		out, err = xz.NewReader(r, maxWindow)
	case Bzip2:
		out = bzip2.NewReader(r)
	case Zstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r, zstdOptions...); err == nil {
			out, done = d, d.Close
		}
	default:
		err = fmt.Errorf("neither a tar nor compressed in a way that is read")
	}
	return out, done, err
}
