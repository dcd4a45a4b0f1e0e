package arch

import "testing"

func TestToolkitOfPTX(t *testing.T) {
	for version, want := range map[string]string{
		"6.0": "9.0", "6.5": "10.2", "7.8": "11.8", "8.0": "12.0", "8.5": "12.5", "8.6": "12.7",
		"8.8": "12.9", "9.0": "13.0", "9.4": "13.4",
		"5.0": "", "9.9": "", "": "", "9": "",
	} {
		if got := ToolkitOfPTX(version); got != want {
			t.Errorf("PTX %s: got toolkit %q, want %q", version, got, want)
		}
	}
}

// The table must grow in order, or a row was put in the wrong place.
func TestReleasesAreInOrder(t *testing.T) {
	for i := 1; i < len(releases); i++ {
		before, after := releases[i-1], releases[i]
		if CompareVersions(before.ptx, after.ptx) >= 0 || CompareVersions(before.toolkit, after.toolkit) >= 0 {
			t.Errorf("%v is not older than %v", before, after)
		}
	}
}

func TestListed(t *testing.T) {
	for name, want := range map[string]bool{
		"sm_35": true, "sm_62": true, "compute_75": true, "sm_90a": true, "sm_103f": true, "sm_121": true, "lto_107": true,
		"sm_181": false, "sm_99": false, "sm_20": false,
	} {
		target, err := ParseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Listed(); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"11.8", "13.0", -1},
		{"13.0", "11.8", 1},
		{"9.2", "10.0", -1},
		{"13.0", "13.0", 0},
		{"13", "13.0", 0},
		{"12.10", "12.9", 1},
		{"580.65.06", "580.159.04", -1},
		{"", "13.0", -1},
	} {
		if got := CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("%q against %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
