package judge

import (
	"fmt"
	"path"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// refusals are the errors by which the driver refuses device code, and what
// each means here (CUDA Driver API, CUresult; meanings of 209, 218, 222 and 223
// as measured on an H200, driver 580.159.04).
var refusals = map[int]string{
	200: "the device image is invalid",
	209: "no image in the file fits the device",
	218: "the PTX could not be compiled for this device",
	221: "the driver's PTX JIT compiler library is missing",
	222: "the PTX ISA version is newer than the driver",
	223: "only PTX fits the device, and JIT compilation was disabled",
	300: "the entry that the driver chose holds no valid image",
}

// unfit are the errors that say nothing about the code: a run with one gives no
// verdict, however it ended.
var unfit = map[int]string{
	100: "no CUDA device was found",
	802: "the system is not ready yet (fabric manager)",
	803: "the driver library does not fit the kernel driver",
	804: "forward compatibility is not supported on this device",
	805: "the MPS control daemon could not be reached",
}

// outdated are errors that say nothing about the code where a run failed;
// libraries also meet them when they try what this driver can do.
var outdated = map[int]string{
	3:  "the driver is older than the runtime, or was not initialised",
	35: "the driver is older than the CUDA runtime of the program",
	36: "the program needs a call that this driver does not have",
}

// unnamed are the errors of a name that a module does not have. Libraries meet
// them when they look for what may be there.
var unnamed = map[int]string{
	98:  "the kernel was not compiled for this device, or its symbol is duplicated",
	500: "the kernel's name is not in the module",
}

// faults are the errors of a kernel that ran and failed. They stay with the
// context: every later call returns them (CUDA Driver API, CUresult).
var faults = map[int]string{
	700: "a kernel read or wrote an illegal address",
	702: "a kernel took too long",
	710: "an assertion in a kernel failed",
	714: "a kernel overran its stack or the hardware failed",
	715: "a kernel met an illegal instruction",
	716: "a kernel used a misaligned address",
	717: "a kernel used an address of the wrong space",
	718: "a kernel jumped to an invalid address",
	719: "a kernel failed",
}

func meaning(code int) string {
	for _, list := range []map[int]string{refusals, unfit, outdated, unnamed, faults} {
		if text, ok := list[code]; ok {
			return text
		}
	}
	return fmt.Sprintf("driver error %d", code)
}

// firstError gives the first driver error of a run that is in the list.
func firstError(run record.Run, list map[int]string) (record.DriverError, bool) {
	i := slices.IndexFunc(run.DriverErrors, func(e record.DriverError) bool { return list[e.Code] != "" })
	if i < 0 {
		return record.DriverError{}, false
	}
	return run.DriverErrors[i], true
}

// logged leaves a run the errors that the driver itself wrote down or gave back. What a
// program printed explains its failure; a program that passed may print the name
// of an error that it has dealt with.
func logged(run record.Run) record.Run {
	run.DriverErrors = slices.DeleteFunc(slices.Clone(run.DriverErrors), func(e record.DriverError) bool {
		return e.From != record.DriverLog && e.From != record.FromTrace
	})
	return run
}

// environmentError gives the error by which a run says nothing about the code.
func environmentError(e manifest.EntryPoint, run record.Run) (record.DriverError, bool) {
	if passed(e, run) {
		return firstError(logged(run), unfit)
	}
	if found, ok := firstError(run, unfit); ok {
		return found, true
	}
	return firstError(run, outdated)
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
