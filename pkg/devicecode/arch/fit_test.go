package arch

import (
	"strings"
	"testing"
)

func TestOn(t *testing.T) {
	for _, test := range []struct {
		rule    string
		targets string
		on      string // capability
		want    Fit
	}{
		{"same major, minor at most", "sm_80 sm_86", "8.6", Native},
		{"same major, minor at most", "sm_80 sm_86 sm_89", "8.9", Native},
		{"minor above", "sm_86 sm_89", "8.0", None},
		{"other major", "sm_86 sm_89 sm_75", "9.0", None},
		{"other major", "sm_90", "10.0", None},
		{"same major", "sm_100 sm_103", "10.3", Native},
		{"same major", "sm_50 sm_52", "5.2", Native},

		{"Orin: exact", "sm_87", "8.7", Native},
		{"Orin: desktop cubins", "sm_80 sm_86", "8.7", NotGuaranteed},
		{"Orin: minor above", "sm_89", "8.7", None},
		{"Orin: PTX", "compute_80 compute_87 compute_53", "8.7", JIT},
		{"Orin's cubin on a desktop device", "sm_87", "8.9", NotGuaranteed},
		{"older Tegra", "sm_50", "5.3", NotGuaranteed},
		{"older Tegra", "sm_60", "6.2", NotGuaranteed},
		{"older Tegra", "sm_70", "7.2", NotGuaranteed},
		{"older Tegra's cubin", "sm_72", "7.5", NotGuaranteed},
		{"8.8 without a product: exact", "sm_88", "8.8", Native},
		{"8.8 without a product", "sm_80 sm_86 sm_87", "8.8", NotGuaranteed},
		{"8.8 without a product", "sm_88", "8.9", NotGuaranteed},
		{"8.8 without a product", "sm_88", "8.6", None},

		{"a: exactly", "sm_90a", "9.0", Native},
		{"a: exactly", "sm_100a sm_103a", "10.7", None},
		{"a: exactly", "sm_100a", "10.3", None},
		{"a: PTX exactly", "compute_90a", "9.0", JIT},
		{"a: PTX exactly", "compute_90a", "10.0", None},
		{"a: PTX exactly", "compute_90a compute_120a", "12.1", None},

		{"family 100f", "sm_100f", "10.0", Native},
		{"family 100f", "sm_100f sm_103f", "10.3", Native},
		{"family 100f", "sm_100f sm_103f sm_107f", "10.7", Native},
		{"family 103f", "sm_103f sm_107f", "10.0", None},
		{"family 107f", "sm_107f", "10.3", None},
		{"family 100f", "sm_100f sm_103f", "11.0", None},
		{"family 110f", "sm_110f sm_110a sm_110", "11.0", Native},
		{"family 120f", "sm_120f", "12.0", Native},
		{"family 121f", "sm_121f sm_121 sm_121a", "12.0", None},
		{"family PTX", "compute_100f compute_103f", "10.3", JIT},
		{"family PTX", "compute_103f", "10.0", None},
		{"family PTX", "compute_100f compute_120f", "11.0", None},
		{"no such family", "sm_90f compute_90f", "9.0", None},

		{"Thor before 13.0", "sm_101 sm_101a sm_101f", "10.1", Native},
		{"Thor renamed", "sm_101 sm_101a sm_101f compute_101a compute_101f", "11.0", NotGuaranteed},
		{"Thor renamed", "compute_101 compute_110", "11.0", JIT},
		{"Thor renamed", "sm_101a", "10.3", None},
		{"Thor is integrated", "sm_100", "10.1", NotGuaranteed},
		{"Thor is integrated", "sm_101", "10.3", NotGuaranteed},

		{"DGX Spark", "sm_120 sm_120f sm_121 sm_121a sm_121f", "12.1", Native},
		{"DGX Spark", "sm_120a sm_110 sm_100f sm_90", "12.1", None},
		{"DGX Spark", "compute_80 compute_90 compute_120 compute_120f compute_121a", "12.1", JIT},

		{"PTX upward", "compute_50 compute_90", "9.0", JIT},
		{"PTX downward", "compute_100 compute_120", "9.0", None},
		{"PTX downward", "compute_89", "8.6", None},
		{"beyond the table", "sm_130 sm_133", "13.5", Unknown},
		{"beyond the table", "sm_130", "13.0", Native},
		{"beyond the table", "sm_120", "12.9", Unknown},
		{"beyond the table", "sm_120f", "12.9", Unknown},
		{"beyond the table", "sm_120a sm_110", "12.9", None},
		{"beyond the table", "compute_90 compute_120", "13.0", JIT},
		{"LTO IR is never loaded", "lto_80 lto_90a", "9.0", None},
	} {
		c, err := ParseCapability(test.on)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(test.targets) {
			target, err := ParseTarget(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := target.On(c); got != test.want {
				t.Errorf("%s: %s on %s: %q, want %q", test.rule, target, c, got, test.want)
			}
		}
	}
	if got := (Target{}).On(Capability{9, 0}); got != None {
		t.Errorf("the zero target on 9.0: %q", got)
	}
}
