package arch

import (
	"strconv"
	"strings"
	"testing"
)

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
	targets := map[string]bool{}
	for i, r := range Releases {
		for _, name := range strings.Fields(r.Targets) {
			if _, err := ParseTarget("sm_" + name); err != nil || targets[name] {
				t.Errorf("CUDA %s: target %s twice, or %v", r.CUDA, name, err)
			}
			targets[name] = true
		}
		if i == 0 {
			continue
		}
		before := Releases[i-1]
		if CompareVersions(before.PTX, r.PTX) > 0 || CompareVersions(before.CUDA, r.CUDA) >= 0 || r.Branch != 0 && before.Branch >= r.Branch {
			t.Errorf("%v is not older than %v", before, r)
		}
		if r.Driver != "" && CompareVersions(r.Driver, strconv.Itoa(r.Branch)) < 0 {
			t.Errorf("CUDA %s asks for driver %s, before branch %d", r.CUDA, r.Driver, r.Branch)
		}
	}
}

func TestSinceUntil(t *testing.T) {
	for name, want := range map[string][2]string{
		"sm_35": {"9.0", "12.0"}, "sm_52": {"9.0", "13.0"}, "sm_70": {"9.0", "13.0"}, "compute_75": {"10.0", ""},
		"sm_90": {"11.8", ""}, "sm_90a": {"12.0", ""}, "sm_100f": {"12.9", ""}, "sm_101a": {"12.7", "13.0"}, "sm_120a": {"12.8", ""},
		"sm_121": {"12.9", ""}, "sm_110f": {"13.0", ""}, "sm_107a": {"13.4", ""}, "sm_90f": {"", ""}, "sm_130": {"", ""},
	} {
		target, err := ParseTarget(name)
		if got := [2]string{target.Since(), target.Until()}; err != nil || got != want {
			t.Errorf("%s: since, until %q, want %q; %v", name, got, want, err)
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
