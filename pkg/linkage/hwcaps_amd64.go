package linkage

import "golang.org/x/sys/cpu"

// hwcaps gives the levels of the x86-64 psABI (section 3.1.1, table 3.1) that
// this processor has, the best first: the names of the subfolders of
// glibc-hwcaps. LAHF, F16C, LZCNT and MOVBE are not asked for: no processor
// has the rest of a level without them.
func hwcaps() []string {
	x := &cpu.X86
	v2 := x.HasCX16 && x.HasPOPCNT && x.HasSSE3 && x.HasSSSE3 && x.HasSSE41 && x.HasSSE42
	v3 := v2 && x.HasAVX && x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA && x.HasOSXSAVE
	v4 := v3 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
	var names []string
	for _, level := range []struct {
		has  bool
		name string
	}{{v4, "x86-64-v4"}, {v3, "x86-64-v3"}, {v2, "x86-64-v2"}} {
		if level.has {
			names = append(names, level.name)
		}
	}
	return names
}
