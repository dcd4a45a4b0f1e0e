package manifest

// String names the pattern as the manifest writes it.
func (p KernelPattern) String() string {
	switch {
	case p.Mangled != "":
		return p.Mangled + " (mangled)"
	case p.Glob != "":
		return p.Glob + " (glob)"
	}
	return p.Name
}
