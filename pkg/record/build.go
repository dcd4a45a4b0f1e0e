package record

// Build is one build of the manifest as it was done.
type Build struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Commands are the commands really run, in the manifest's and sources'
	// order.
	Commands []Command `json:"commands"`
	// Environment holds the variables that change what nvcc does
	// (NVCC_APPEND_FLAGS, NVCC_PREPEND_FLAGS, NVCC_CCBIN, ...), where set.
	Environment map[string]string `json:"environment,omitempty"`
	// Targets are the real and virtual targets asked for; empty for an
	// external build, whose command is all that is known.
	Targets []string `json:"targets,omitempty"`
	Output  string   `json:"output,omitempty"`
	// MissingTargets are targets asked for that the toolkit does not list.
	// Nothing is compiled when there are any.
	MissingTargets []string `json:"missing_targets,omitempty"`
	// Problem says why the build failed or was not done.
	Problem string `json:"problem,omitempty"`
	// Failed tells a failed build from one that could not be tried (no
	// toolkit).
	Failed bool `json:"failed,omitempty"`
}

// Command is one command of a build.
type Command struct {
	Args   []string `json:"args"`
	Dir    string   `json:"dir"` // relative to the manifest's folder, "." for itself
	Exit   int      `json:"exit"`
	Output string   `json:"output,omitempty"` // standard output and error, capped
}
