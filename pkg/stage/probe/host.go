package probe

import (
	"bufio"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cudaproof/cudaproof/pkg/record"
)

func host() record.Host {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return record.Host{}
	}
	h := record.Host{
		Machine: unix.ByteSliceToString(u.Machine[:]),
		OS:      unix.ByteSliceToString(u.Sysname[:]),
	}
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		if name := prettyName(string(text)); name != "" {
			h.OS = name
		}
	}
	return h
}

// prettyName finds PRETTY_NAME in the text of an os-release(5) file.
func prettyName(text string) string {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// variables choose which devices, toolkit and libraries a CUDA program gets.
var variables = []string{
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
	"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH",
}
