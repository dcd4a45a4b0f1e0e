package manifest

import (
	"slices"
	"strings"
)

// reservedFlags are options of nvcc that would contradict what the manifest
// states, or hide it from the record (`nvcc --help` of 11.8 and 13.0).
var reservedFlags = []struct {
	instead string
	flags   []string
}{
	{"state the targets in gencode", strings.Fields(
		"-arch --gpu-architecture -code --gpu-code -gencode --generate-code")},
	{"state the file in output", strings.Fields(
		"-o --output-file -odir --output-directory")},
	{"state it in rdc", strings.Fields(
		"-rdc --relocatable-device-code -dc --device-c -dw --device-w -ewp --extensible-whole-program")},
	{"state the product in kind", strings.Fields(
		"-c --compile -dlink --device-link -nodlink --no-device-link -link --link -lib --lib -shared --shared " +
			"-r --host-relocatable-link -run --run -cuda --cuda -cubin --cubin -fatbin --fatbin -ptx --ptx " +
			"-optix-ir --optix-ir -ltoir --ltoir -E --preprocess -dryrun --dryrun -clean --clean-targets")},
	{"leave it out, every build lists its dependencies", strings.Fields(
		"-M --generate-dependencies -MM --generate-nonsystem-dependencies " +
			"-MD --generate-dependencies-with-compile -MMD --generate-nonsystem-dependencies-with-compile " +
			"-MF --dependency-output -MP --generate-dependency-targets -MT --dependency-target-name")},
	{"write the options out in flags", strings.Fields(
		"-optf --options-file")},
}

// takesAnyValue are options whose value may stand in the next argument and
// look like an option of nvcc without being one.
var takesAnyValue = strings.Fields("-Xcompiler --compiler-options -Xlinker --linker-options -Xptxas --ptxas-options " +
	"-Xnvlink --nvlink-options -Xfatbin --fatbin-options -Xarchive --archive-options -Xcudafe --cudafe-options")

// reserved says what to do instead of a flag, "" when it may be used.
func reserved(flag string) string {
	name, _, _ := strings.Cut(flag, "=")
	for _, r := range reservedFlags {
		if slices.Contains(r.flags, name) {
			return r.instead
		}
	}
	return ""
}
