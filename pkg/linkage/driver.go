package linkage

import (
	"path/filepath"
	"regexp"
)

// driverOrTool matches the libraries that the driver package installs for CUDA
// and what it loads (NVIDIA driver README 565, "Installed Components", and the
// names of Debian's driver packages), and the CUDA profiling interface. The
// list is closed: a library of another name is looked at like any. libcudart
// and libnvrtc are no part of the driver.
var driverOrTool = regexp.MustCompile(`^(libcuda|libcudadebugger|libcupti|libnvidia-(` +
	`allocator|api|cbl|cfg|compiler|egl-gbm|egl-wayland|eglcore|encode|fbc|glcore|glsi|glvkspirv|gpucomp|ml|ngx|` +
	`nvvm|nvvm70|opencl|opticalflow|pkcs11|pkcs11-openssl3|ptxjitcompiler|rtcore|sandboxutils|tls` +
	`))\.so(\.|$)`)

// traceLibrary matches our own trace library, which runs load.
var traceLibrary = regexp.MustCompile(`^libcudaproof-trace-[0-9a-f]{32}\.so$`)

// Trace reports whether a path is that of our trace library, outside the project.
func Trace(path string) bool {
	return filepath.IsAbs(path) && traceLibrary.MatchString(filepath.Base(path))
}

// DriverName reports whether a name in DT_NEEDED is that of a library of the
// driver or of the CUDA tools: a builder without a GPU has none of them, and
// that is no unresolved dependency. It looks at no file.
func DriverName(name string) bool { return driverOrTool.MatchString(filepath.Base(name)) }

// DriverOrTool reports whether a library belongs to the driver or to the CUDA
// tools, by the name of the file that path leads to. Path is as the record has
// it: a relative one lies inside the project and is the project's own, whatever
// its name.
func DriverOrTool(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return DriverName(path)
}
