package execute

import (
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/stage/execute/trace"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// ours are the variables that decide the mode of a run or where its evidence
// goes: the caller's values never reach a program.
var ours = slices.Concat(manifest.JITVariables, []string{
	"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_LOG_FILE", "LD_DEBUG", "LD_DEBUG_OUTPUT",
}, trace.VariableNames)

// kept are the variables that choose devices, libraries or the way of computing
// (CUDA C++ Programming Guide, "CUDA Environment Variables"; CUDA MPS; ld.so(8)).
// They stay in force and are recorded. Others stay in force and are not: the
// list is closed, for names that begin with CUDA_ or NVIDIA_ hold keys too.
var kept = []string{
	"CUDA_AUTO_BOOST", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_MAX_COPY_CONNECTIONS", "CUDA_DEVICE_ORDER",
	"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING",
	"CUDA_MANAGED_FORCE_DEVICE_ALLOC", "CUDA_MODULE_DATA_LOADING", "CUDA_MODULE_LOADING",
	"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_PATH", "CUDA_SCALE_LAUNCH_QUEUES",
	"CUDA_VISIBLE_DEVICES",
	"GLIBC_TUNABLES", "LD_AUDIT", "LD_BIND_NOW", "LD_LIBRARY_PATH", "LD_PRELOAD",
	"NVIDIA_DISABLE_REQUIRE", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_REQUIRE_CUDA",
	"NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
}

// environment is what one run gets.
type environment struct {
	mode   manifest.Mode
	folder folder
	trace  trace.Library // without a path: none
	// devices are the UUIDs to make the only visible ones, with commas. It is empty
	// where all are visible: then the caller's choice stays.
	devices string
}

// apply gives the variables for the program, those to record, and the names
// that were taken away from the caller's.
func (e environment) apply(caller []string) (env []string, recorded map[string]string, removed []string) {
	set := e.mode.Variables()
	set["CUDA_CACHE_PATH"] = e.folder.path("cache")
	set["CUDA_LOG_FILE"] = e.folder.path("driver.log")
	set["LD_DEBUG"] = "files"
	set["LD_DEBUG_OUTPUT"] = e.folder.path("loader", loaderPrefix)
	if e.trace.Path != "" {
		maps.Copy(set, e.trace.Variables(e.folder.path("trace")))
	}
	if e.devices != "" {
		set["CUDA_VISIBLE_DEVICES"] = e.devices
	}
	recorded = map[string]string{}
	for _, variable := range caller {
		name, value, _ := strings.Cut(variable, "=")
		if slices.Contains(ours, name) {
			removed = append(removed, name)
			continue
		}
		if _, replaced := set[name]; replaced {
			continue
		}
		env = append(env, variable)
		if slices.Contains(kept, name) {
			recorded[name] = tool.MaskHome(value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
		recorded[name] = e.folder.named(set[name])
	}
	slices.Sort(removed)
	return env, recorded, slices.Compact(removed)
}
