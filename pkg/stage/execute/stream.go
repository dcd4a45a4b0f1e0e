package execute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

const (
	// maxLog is how much of a stream is kept, in bytes.
	maxLog = 1 << 20
	// maxLine is the length that a line is compared up to; a longer one equals
	// no expected line.
	maxLine = 64 << 10
	// maxTail is how much of the end of a stream goes into the record, in bytes.
	maxTail = 2 << 10
)

// stream takes the output of a program: it keeps the beginning in a file and
// looks for the expected lines in all of it.
type stream struct {
	path    string
	file    *os.File // nil until something was written
	kept    int64
	dropped int64
	hash    hash.Hash
	want    []expectedLine // in the manifest's order
	line    []byte
	tooLong bool   // the current line
	tail    []byte // the last bytes, kept or not
}

// expectedLine is a line that must be printed.
type expectedLine struct {
	manifest.Line
	pattern *regexp.Regexp // nil: literal
	seen    bool
}

func newStream(path string, want []manifest.Line) *stream {
	s := &stream{path: path, hash: sha256.New()}
	for _, line := range want {
		e := expectedLine{Line: line}
		if line.Regexp {
			e.pattern = regexp.MustCompile("^(?:" + line.Text + ")$") // the manifest's reader has compiled it
		}
		s.want = append(s.want, e)
	}
	return s
}

// is reports whether a line, white space at the end taken away, is the one.
func (e expectedLine) is(line string) bool {
	if e.pattern != nil {
		return e.pattern.MatchString(line)
	}
	return line == trimLine(e.Text)
}

// Write never fails: a program must not be stopped by its log. What could not
// be kept counts as dropped.
func (s *stream) Write(p []byte) (int, error) {
	keep := p[:min(int64(len(p)), maxLog-s.kept)]
	n := s.keep(keep)
	s.hash.Write(keep[:n])
	s.kept += int64(n)
	s.dropped += int64(len(p) - n)
	if len(s.want) > 0 {
		s.scan(p)
	}
	s.tail = append(s.tail, p[max(0, len(p)-maxTail):]...)
	s.tail = s.tail[max(0, len(s.tail)-maxTail):]
	return len(p), nil
}

func (s *stream) keep(p []byte) int {
	if len(p) == 0 || s.dropped > 0 {
		return 0
	}
	if s.file == nil {
		f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return 0
		}
		s.file = f
	}
	n, _ := s.file.Write(p)
	return n
}

func (s *stream) scan(p []byte) {
	for {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		if len(s.line)+len(part) > maxLine {
			s.tooLong = true
		} else {
			s.line = append(s.line, part...)
		}
		if end < 0 {
			return
		}
		s.endLine()
		p = p[end+1:]
	}
}

func (s *stream) endLine() {
	if line := trimLine(string(s.line)); !s.tooLong {
		for n := range s.want {
			w := &s.want[n]
			w.seen = w.seen || w.is(line)
		}
	}
	s.line, s.tooLong = s.line[:0], false
}

// trimLine takes away white space at the end, with the CR of a CRLF.
func trimLine(line string) string { return strings.TrimRight(line, " \t\r\n\v\f") }

// checks tells for each expected line whether it was printed.
func (s *stream) checks() []record.Check {
	s.endLine() // the last line may have no end
	var checks []record.Check
	for _, want := range s.want {
		c := record.Check{What: want.What(), Want: want.Text, Got: "not printed"}
		if want.seen {
			c.Got, c.OK = "printed", true
		}
		checks = append(checks, c)
	}
	return checks
}

// log describes the file that was kept.
func (s *stream) log(f folder) record.Log {
	if s.kept == 0 {
		return record.Log{Dropped: s.dropped}
	}
	return record.Log{
		File:    f.name + "/" + filepath.Base(s.path),
		SHA256:  hex.EncodeToString(s.hash.Sum(nil)),
		Size:    s.kept,
		Dropped: s.dropped,
		Tail:    strings.ToValidUTF8(string(s.tail), "\ufffd"),
	}
}

// pump moves what a program writes into a stream.
type pump struct {
	r    *os.File
	done chan struct{}
}

func startPump(r *os.File, s *stream) *pump {
	p := &pump{r, make(chan struct{})}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(s, r) // it ends with the last writer or the deadline
		if s.file != nil {
			_ = s.file.Close()
		}
	}()
	return p
}

// stop ends the pump when everything written so far was read. A process that
// escaped may hold the other end open for ever.
func (p *pump) stop() {
	_ = p.r.SetReadDeadline(time.Now().Add(time.Second))
	<-p.done
	_ = p.r.Close()
}
