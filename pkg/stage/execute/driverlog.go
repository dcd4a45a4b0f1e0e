package execute

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/record"
)

const (
	// maxErrors is how many different errors of one log are kept.
	maxErrors = 64
	// maxDriverLog is how much of a log is searched, in bytes.
	maxDriverLog = 64 << 20
)

// returning matches the line that the driver writes into CUDA_LOG_FILE for a
// failed call (seen with driver 580.159.04):
//
//	[03:49:56.639][140631050067968][CUDA][E] Returning 223 (CUDA_ERROR_JIT_COMPILATION_DISABLED) from cuLibraryGetKernel
var returning = regexp.MustCompile(`\[CUDA\]\[E\] Returning (\d{1,9}) \((CUDA_ERROR_[A-Z0-9_]+)\) from (\w+)`)

// driverLog reads the errors in the run's driver log and cuts it to the size
// that is kept.
func (f folder) driverLog() ([]record.DriverError, record.Log) {
	// A link in its place would have us cut another file.
	file, err := filemap.OpenRegular(f.path("driver.log"), os.O_RDWR|syscall.O_NOFOLLOW)
	if err != nil {
		// Drivers before 580 write none, and neither does one without an error.
		return nil, record.Log{}
	}
	defer file.Close()
	var found []record.DriverError
	eachLine(io.LimitReader(file, maxDriverLog), func(line []byte) {
		m := returning.FindSubmatch(line)
		if m == nil || len(found) == maxErrors {
			return
		}
		code, _ := strconv.Atoi(string(m[1])) // nine digits at the most
		e := record.DriverError{Code: code, Name: string(m[2]), Call: string(m[3]), From: record.DriverLog}
		if !slices.Contains(found, e) {
			found = append(found, e)
		}
	})
	return found, f.cutDriverLog(file)
}

// tracedErrors gives the errors that loads and launches returned.
func tracedErrors(t record.Trace) []record.DriverError {
	var found []record.DriverError
	for _, p := range t.Processes {
		for _, f := range p.Failures {
			e := record.DriverError{Code: f.Code, Name: f.Name, Call: f.Function, From: record.FromTrace}
			if !slices.Contains(found, e) {
				found = append(found, e)
			}
		}
	}
	return found
}

func (f folder) cutDriverLog(file *os.File) record.Log {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return record.Log{}
	}
	l := record.Log{File: f.name + "/driver.log", Size: min(info.Size(), maxLog)}
	l.Dropped = info.Size() - l.Size
	if l.SHA256, _, err = artifact.Hash(io.NewSectionReader(file, 0, l.Size)); err == nil {
		err = file.Truncate(l.Size)
	}
	if err != nil {
		return record.Log{Dropped: info.Size()}
	}
	return l
}

// eachLine passes on the lines of a file; of a longer one than maxLine the
// pieces.
func eachLine(r io.Reader, do func(line []byte)) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		do(line)
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}
