package execute

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/execute/compare"
)

// exitCheck compares the exit code.
func exitCheck(want int, timeout time.Duration, exit record.Exit) record.Check {
	c := record.Check{What: "exit code", Want: strconv.Itoa(want)}
	switch {
	case exit.Interrupted:
		c.Got = "interrupted"
	case exit.TimedOut:
		c.Got = fmt.Sprintf("ended with SIGKILL after %v", timeout)
	case exit.Signal != "":
		c.Got = exit.Signal
		if exit.CoreDumped {
			c.Got += ", core dumped"
		}
	default:
		c.Got, c.OK = strconv.Itoa(exit.Code), exit.Code == want
	}
	return c
}

// watched is the state of the expected files before a run.
type watched struct {
	manifest *manifest.Manifest
	expect   manifest.Expect
	before   map[string]stamp // by path in the manifest, golden files too
}

// watch looks at the files that a run is expected to write.
func watch(m *manifest.Manifest, e manifest.Expect) watched {
	w := watched{m, e, map[string]stamp{}}
	for output, golden := range e.Files {
		w.before[output], w.before[golden.Path] = stampOf(m.Abs(output)), stampOf(m.Abs(golden.Path))
	}
	for _, output := range e.SameAcrossModes {
		w.before[output.Path] = stampOf(m.Abs(output.Path))
	}
	for _, s := range w.before {
		s.settle()
	}
	return w
}

// state says what the run did to a file: "written", or what is wrong.
func (w watched) state(path string) string {
	switch now := stampOf(w.manifest.Abs(path)); {
	case !now.exists:
		return "missing"
	case now == w.before[path]:
		return "not written by this run: left from before"
	}
	return "written"
}

// checks compares each output of expect.files with its golden file.
func (w watched) checks() []record.Check {
	var checks []record.Check
	for _, output := range slices.Sorted(maps.Keys(w.expect.Files)) {
		golden := w.expect.Files[output]
		c := record.Check{What: "file " + output, Want: golden.Wanted(), Got: w.state(output)}
		if c.Got == "written" {
			c.Got, c.OK = w.compare(output, golden)
		}
		checks = append(checks, c)
	}
	return checks
}

func (w watched) compare(output string, golden manifest.Golden) (got string, ok bool) {
	if stampOf(w.manifest.Abs(golden.Path)) != w.before[golden.Path] {
		return "the run changed " + golden.Path + " itself", false
	}
	found, wanted := w.manifest.Abs(output), w.manifest.Abs(golden.Path)
	difference, err := "", error(nil)
	if golden.Tolerant {
		difference, err = withinTolerance(found, wanted, golden.Tolerance)
	} else {
		difference, err = firstDifference(found, wanted)
	}
	switch {
	case err != nil:
		return err.Error(), false
	case difference != "":
		return difference, false
	}
	return "written and equal", true
}

// withinTolerance says where a file differs from the wanted one by more than it
// may, empty where it does not.
func withinTolerance(got, want string, t manifest.Tolerance) (difference string, err error) {
	err = mapped(got, func(g []byte) error {
		return mapped(want, func(w []byte) error {
			difference, err = compare.Difference(g, w, compare.Tolerance{Rtol: t.Rtol, Atol: t.Atol, EqualNaN: t.EqualNaN})
			return err
		})
	})
	return difference, err
}

func mapped(path string, do func([]byte) error) error {
	f, err := filemap.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return filemap.Do(f, do)
}

// firstDifference says where a file differs from the wanted one, empty for
// equal ones.
func firstDifference(got, want string) (string, error) {
	g, err := filemap.OpenRegular(got, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer g.Close()
	w, err := filemap.OpenRegular(want, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer w.Close()
	a, b := bufio.NewReaderSize(g, 1<<16), bufio.NewReaderSize(w, 1<<16)
	for offset := int64(0); ; offset++ {
		x, errA := a.ReadByte()
		y, errB := b.ReadByte()
		switch {
		case errA == io.EOF && errB == io.EOF:
			return "", nil
		case errA == io.EOF || errB == io.EOF:
			return lengths(g, w, offset)
		case errA != nil || errB != nil:
			return "", errors.Join(errA, errB)
		case x != y:
			return fmt.Sprintf("differs at byte %d (%#x): found %#02x, expected %#02x", offset, offset, x, y), nil
		}
	}
}

func lengths(got, want *os.File, offset int64) (string, error) {
	g, errA := got.Stat()
	w, errB := want.Stat()
	if err := errors.Join(errA, errB); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes, expected %d; equal up to byte %d", g.Size(), w.Size(), offset), nil
}

// outputs hashes the files of expect.same_across_modes.
func (w watched) outputs() (files []record.File, checks []record.Check) {
	for _, output := range w.expect.SameAcrossModes {
		c := record.Check{What: "output " + output.Path, Want: "written", Got: w.state(output.Path)}
		if c.Got == "written" {
			sum, size, err := artifact.HashFile(w.manifest.Abs(output.Path))
			if err == nil {
				files = append(files, record.File{Path: w.manifest.Rel(output.Path), SHA256: sum, Size: size})
				c.OK = true
			} else {
				c.Got = err.Error()
			}
		}
		checks = append(checks, c)
	}
	return files, checks
}
