package tool

import (
	"os"
	"strings"
)

// Variables gives the named variables of the environment that are set, empty
// ones included, for the record. Only what a stage names is recorded: the
// environment also holds secrets.
func Variables(names []string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			found[name] = MaskHome(value)
		}
	}
	return found
}

// MaskHome writes $HOME for the user's home folder in a path or a list of
// paths, to keep the user's name out of the record.
func MaskHome(value string) string {
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
