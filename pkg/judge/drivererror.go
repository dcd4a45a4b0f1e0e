package judge

import (
	"fmt"
	"path"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// refusals are the errors by which the driver refuses device code, and what
// each means here (CUDA Driver API, CUresult; meanings of 209, 218, 222 and 223
// as measured on an H200, driver 580.159.04).
var refusals = map[int]string{
	98:  "the kernel was not compiled for this device, or its symbol is duplicated",
	200: "the device image is invalid",
	209: "no image in the file fits the device",
	218: "the PTX could not be compiled for this device",
	221: "the driver's PTX JIT compiler library is missing",
	222: "the PTX ISA version is newer than the driver",
	223: "only PTX fits the device, and JIT compilation was disabled",
	300: "the entry that the driver chose holds no valid image",
	500: "the kernel's name is not in the module",
}

// environment are the errors that say nothing about the code: they give no
// verdict.
var environment = map[int]string{
	3:   "the driver is older than the runtime, or was not initialised",
	35:  "the driver is older than the CUDA runtime of the program",
	36:  "the program needs a call that this driver does not have",
	100: "no CUDA device was found",
	803: "the driver library does not fit the kernel driver",
	804: "forward compatibility is not supported on this device",
	805: "the MPS control daemon could not be reached",
}

func meaning(code int) string {
	if text, ok := refusals[code]; ok {
		return text
	}
	if text, ok := environment[code]; ok {
		return text
	}
	return fmt.Sprintf("driver error %d", code)
}

// refusal gives the first error by which the driver refused device code.
func refusal(run record.Run) (record.DriverError, bool) {
	i := slices.IndexFunc(run.DriverErrors, func(e record.DriverError) bool { return refusals[e.Code] != "" })
	if i < 0 {
		return record.DriverError{}, false
	}
	return run.DriverErrors[i], true
}

// environmentError gives the error by which a failed run failed before any
// code was reached.
func environmentError(run record.Run) (int, string) {
	if passed(run) {
		return 0, ""
	}
	for _, e := range run.DriverErrors {
		if text := environment[e.Code]; text != "" {
			return e.Code, text
		}
	}
	return 0, ""
}

func returned(e record.DriverError) string {
	text := fmt.Sprintf("the driver returned %d (%s)", e.Code, e.Name)
	if e.Call != "" {
		text += " from " + e.Call
	}
	return text
}

// libcudaPath names the driver library that the run loaded, for a sentence.
func libcudaPath(run record.Run) string {
	for _, p := range run.Processes {
		if p.Libcuda != "" {
			return ": " + path.Clean(p.Libcuda)
		}
	}
	return ""
}
