package execute

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
)

// ours are the variables that decide the mode of a run or where its evidence
// goes: the caller's values never reach a program. CUDA_FORCE_JIT and
// CUDA_DISABLE_JIT act as the names with PTX (CUDA C++ Programming Guide,
// "CUDA Environment Variables"; tried with driver 580.159.04).
var ours = []string{
	"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT",
	"CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_LOG_FILE",
	"LD_DEBUG", "LD_DEBUG_OUTPUT",
}

// modeVariables are set for a mode.
var modeVariables = map[manifest.Mode]map[string]string{
	manifest.NativeMode:    {"CUDA_DISABLE_PTX_JIT": "1"},
	manifest.PTXMode:       {"CUDA_FORCE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"},
	manifest.AsShippedMode: {},
}

// kept are the variables besides CUDA_* that choose devices, libraries or the
// way of computing. They stay in force and are recorded; others stay in force
// and are not, for the names with NVIDIA_ hold API keys too.
var kept = []string{
	"GLIBC_TUNABLES", "LD_AUDIT", "LD_BIND_NOW", "LD_LIBRARY_PATH", "LD_PRELOAD",
	"NVIDIA_DISABLE_REQUIRE", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_REQUIRE_CUDA",
	"NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
}

// environment is what one run gets.
type environment struct {
	mode   manifest.Mode
	folder folder
	// device is the UUID to make the only visible one. It is empty when a
	// single device is visible: then the caller's choice stays, which may name
	// a MIG instance.
	device string
}

// apply gives the variables for the program, those to record, and the names
// that were taken away from the caller's.
func (e environment) apply(caller []string) (env []string, recorded map[string]string, removed []string) {
	set := maps.Clone(modeVariables[e.mode])
	set["CUDA_CACHE_PATH"] = e.folder.path("cache")
	set["CUDA_LOG_FILE"] = e.folder.path("driver.log")
	set["LD_DEBUG"] = "files"
	set["LD_DEBUG_OUTPUT"] = e.folder.path("loader", loaderPrefix)
	if e.device != "" {
		set["CUDA_VISIBLE_DEVICES"] = e.device
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
		if matters(name) {
			recorded[name] = maskHome(value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
		recorded[name] = set[name]
		if inside, ok := strings.CutPrefix(set[name], e.folder.bundle+"/"); ok {
			recorded[name] = "<bundle>/" + inside
		}
	}
	slices.Sort(removed)
	return env, recorded, slices.Compact(removed)
}

func matters(name string) bool {
	for _, secret := range []string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"} {
		if strings.Contains(name, secret) {
			return false
		}
	}
	return strings.HasPrefix(name, "CUDA_") || slices.Contains(kept, name)
}

// maskHome keeps the user's name out of the record.
func maskHome(value string) string {
	home := os.Getenv("HOME")
	if home == "" || home == "/" {
		return value
	}
	parts := strings.Split(value, ":")
	for i, p := range parts {
		if rest, ok := strings.CutPrefix(p, home); ok && (rest == "" || rest[0] == '/') {
			parts[i] = "$HOME" + rest
		}
	}
	return strings.Join(parts, ":")
}
