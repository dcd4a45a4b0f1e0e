package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// disabled is what the driver wrote on an H200, driver 580.159.04, CUDA 13.0,
// for a build with PTX only and CUDA_DISABLE_PTX_JIT=1.
const disabled = `[03:49:56.639][140631050067968][CUDA][E] No device code available for GPU ISA 90
[03:49:56.639][140631050067968][CUDA][E] Kernel (_Z6write7Pi) cannot be found in library due to compilation error, to get more information when using CUDA Driver APIs use the CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES parameters
[03:49:56.639][140631050067968][CUDA][E] Returning 223 (CUDA_ERROR_JIT_COMPILATION_DISABLED) from cuLibraryGetKernel
`

func TestDriverErrors(t *testing.T) {
	in := func(from string, code int, name, call string) record.DriverError {
		return record.DriverError{Code: code, Name: name, Call: call, From: from}
	}
	noBinary := "CUDA_ERROR_NO_BINARY_FOR_GPU"
	tests := []struct {
		name   string
		script string
		want   []record.DriverError
	}{
		{"driver log", "cat log >\"$CUDA_LOG_FILE\"; cat log >>\"$CUDA_LOG_FILE\"; echo cudaErrorNoDevice",
			[]record.DriverError{in("driver log", 223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "cuLibraryGetKernel")}},
		{"runtime's message", "echo 'kernel: 209 no kernel image is available for execution on the device' >&2",
			[]record.DriverError{in("stderr", 209, noBinary, "")}},
		{"both streams, in order, once each",
			"echo 'CUDA_ERROR_INVALID_PTX cudaErrorInvalidPtx: a PTX JIT compilation failed'; echo cudaErrorNoKernelImageForDevice; echo CUDA_ERROR_NO_BINARY_FOR_GPU >&2",
			[]record.DriverError{in("stdout", 218, "CUDA_ERROR_INVALID_PTX", ""), in("stdout", 209, noBinary, ""), in("stderr", 209, noBinary, "")}},
		{"not quite", "echo XCUDA_ERROR_INVALID_PTX CUDA_ERROR_INVALID_PTX2 no kernel image 209", nil},
		{"a FIFO in place of the log", "mkfifo \"$CUDA_LOG_FILE\"", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, script(tt.script))
			p.write(t, "log", disabled)
			r := p.run(t)
			if diff := cmp.Diff(tt.want, r.DriverErrors); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if r.DriverLog.File != "" && p.kept(t, r.DriverLog) != disabled+disabled {
				t.Error("the kept log is not what the driver wrote")
			}
		})
	}
}

// An error after the kept part of the log is read all the same.
func TestDriverLogIsCut(t *testing.T) {
	p := newProject(t, script("head -c 3000000 /dev/zero | tr '\\0' '\\n' >\"$CUDA_LOG_FILE\"; cat log >>\"$CUDA_LOG_FILE\""))
	p.write(t, "log", disabled)
	r := p.run(t)
	if len(r.DriverErrors) != 1 || r.DriverErrors[0].Code != 223 {
		t.Errorf("got %+v", r.DriverErrors)
	}
	if r.DriverLog.Size != maxLog || r.DriverLog.Dropped != int64(3000000+len(disabled)-maxLog) {
		t.Errorf("got %+v", r.DriverLog)
	}
	p.kept(t, r.DriverLog)
}

// A link in place of the log is not followed: the file behind it stays whole.
func TestDriverLogBehindALink(t *testing.T) {
	p := newProject(t, script("ln -s \"$PWD/log\" \"$CUDA_LOG_FILE\""))
	p.write(t, "log", strings.Repeat(disabled, 3000))
	if r := p.run(t); r.DriverLog != (record.Log{}) || r.DriverErrors != nil {
		t.Errorf("got %+v, %+v", r.DriverLog, r.DriverErrors)
	}
	if info, err := os.Stat(filepath.Join(p.Dir, "log")); err != nil || info.Size() != int64(3000*len(disabled)) {
		t.Errorf("the file behind the link was changed: %v, %v", info, err)
	}
}

// Every text and name finds its own error.
func TestPrintedErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, e := range driverErrors {
		name := e.driver
		if name == "" {
			name = e.runtime
		}
		for _, text := range []string{e.driver, e.runtime, e.text} {
			if err := os.WriteFile(path, []byte("error: "+text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var want []record.DriverError
			if text != "" {
				want = []record.DriverError{{Code: e.code, Name: name, From: "stdout"}}
			}
			if diff := cmp.Diff(want, printedErrors(path, "stdout")); diff != "" {
				t.Errorf("%q: -want +got:\n%s", text, diff)
			}
		}
	}
}

func FuzzDriverLog(f *testing.F) {
	f.Add([]byte(disabled))
	f.Add([]byte("[CUDA][E] Returning 999999999999 (CUDA_ERROR_X) from f\ncudaErrorNoDevice"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := folder{bundle: t.TempDir(), name: "."}
		if err := os.WriteFile(dir.path("driver.log"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		found, log := dir.driverLog()
		found = append(found, printedErrors(dir.path("driver.log"), "stdout")...)
		if log.Size+log.Dropped != int64(len(data)) || len(found) > maxErrors+len(driverErrors) {
			t.Errorf("%d bytes: %+v, %d errors", len(data), log, len(found))
		}
		for _, e := range found {
			if e.Code < 0 || !strings.HasPrefix(e.Name, "CUDA_ERROR_") && !strings.HasPrefix(e.Name, "cudaError") {
				t.Errorf("got %+v", e)
			}
		}
	})
}
