package linkage

import (
	"os"
	"strings"
)

// Environment is what the dynamic loader looks at besides the files.
type Environment struct {
	// LibraryPath holds the folders of LD_LIBRARY_PATH in their order; an empty
	// one means the working directory.
	LibraryPath []string
	// Cache is the path of the loader's cache, "/etc/ld.so.cache" on a real
	// system. A cache that does not exist holds nothing; an empty path means
	// no cache.
	Cache string
	// Dir is the working directory that relative names are taken from; empty
	// means that of this process.
	Dir string
	// HWCaps are the subfolders of glibc-hwcaps that the processor supports,
	// the best first.
	HWCaps []string
}

// CurrentEnvironment gives the environment that a program started by this
// process would see.
func CurrentEnvironment() Environment {
	return Environment{
		LibraryPath: splitLibraryPath(os.Getenv("LD_LIBRARY_PATH")),
		Cache:       "/etc/ld.so.cache",
		HWCaps:      hwcaps(),
	}
}

// splitLibraryPath splits LD_LIBRARY_PATH, whose separators are colons and
// semicolons (ld.so(8), ENVIRONMENT); an empty value counts as unset.
func splitLibraryPath(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(value, ";", ":"), ":")
}
