package tool

import "os"

// Variables gives the named variables of the environment that are set, empty
// ones included. Only what a stage names is recorded: the environment also
// holds secrets.
func Variables(names []string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			found[name] = value
		}
	}
	return found
}
