package execute

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// driverErrors are the errors looked for in what a program prints, with the
// names of the driver (CUDA Driver API, CUresult; empty where only the runtime
// has the error) and of the runtime, and the text of cudaGetErrorString where
// that text means one error only (CUDA Runtime API, cudaError; texts as CUDA
// 11.8 and 13.0 print them, those of 35, 36, 98 and 805 as 11.8 does).
var driverErrors = []struct {
	code                  int
	driver, runtime, text string
}{
	{3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", ""}, // "initialization error" may be anybody's
	{35, "", "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	{36, "", "cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"},
	{98, "", "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
	{218, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
	{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
	{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "cudaErrorJitCompilationDisabled", "PTX JIT compilation was disabled"},
	{300, "CUDA_ERROR_INVALID_SOURCE", "cudaErrorInvalidSource", ""}, // its text is that of 200
	{500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure", "unspecified launch failure"},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY", "cudaErrorSystemNotReady", "system not yet initialized"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cudaErrorSystemDriverMismatch", "system has unsupported display driver / cuda driver combination"},
	{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "cudaErrorCompatNotSupportedOnDevice", "forward compatibility was attempted on non supported HW"},
	{805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "cudaErrorMpsConnectionFailed", "MPS client failed to connect to the MPS control daemon or the MPS server"},
}

// printedErrors looks for the driver's errors in what a program printed, for
// drivers that write no log: each once, in the order of appearance. The file
// is absent when nothing was printed.
func printedErrors(path, from string) []record.DriverError {
	file, err := filemap.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxLog))
	if err != nil {
		return nil
	}
	type place struct {
		at int
		record.DriverError
	}
	var places []place
	for _, e := range driverErrors {
		if at := firstOf(text, e.driver, e.runtime, e.text); at >= 0 {
			places = append(places, place{at, record.DriverError{Code: e.code, Name: cmp.Or(e.driver, e.runtime), From: from}})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.at - b.at })
	var found []record.DriverError
	for _, p := range places {
		found = append(found, p.DriverError)
	}
	return found
}

// firstOf gives where the first of the phrases begins, -1 for nowhere.
func firstOf(text []byte, phrases ...string) int {
	first := -1
	for _, phrase := range phrases {
		if at := indexWhole(text, phrase); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// indexWhole finds a phrase that is no part of a longer word.
func indexWhole(text []byte, phrase string) int {
	if phrase == "" {
		return -1
	}
	for from := 0; ; {
		at := bytes.Index(text[from:], []byte(phrase))
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(phrase)
		if (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end])) {
			return at
		}
		from = at + 1
	}
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
