package arch

import (
	"encoding/json"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for s, want := range map[string]Target{
		"sm_90":        {SM, 90, Plain},
		"sm_90a":       {SM, 90, Specific},
		"compute_120f": {Compute, 120, Family},
		"lto_80":       {LTO, 80, Plain},
	} {
		if got, err := ParseTarget(s); got != want || err != nil {
			t.Errorf("ParseTarget(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "sm", "sm_", "sm_9", "sm_090", "sm_1000", "sm_90b", "sm_90af", "sm_a", "sm_-90", "sm_+90", "sm_9 0", "SM_90", "gfx_90", "90"} {
		if got, err := ParseTarget(s); err == nil {
			t.Errorf("ParseTarget(%q) = %v, want an error", s, got)
		}
	}
}

func TestTarget(t *testing.T) {
	target := Target{SM, 121, Specific}
	if got := target.Capability(); got != (Capability{12, 1}) {
		t.Errorf("capability %v", got)
	}
	if got := target.As(Compute).String(); got != "compute_121a" {
		t.Errorf("as compute: %s", got)
	}
	if got := (Capability{12, 1}).Target(SM); got != (Target{SM, 121, Plain}) {
		t.Errorf("target of 12.1: %s", got)
	}
}

func TestParseCapability(t *testing.T) {
	if got, err := ParseCapability("12.1"); got != (Capability{12, 1}) || err != nil {
		t.Errorf("12.1: %v, %v", got, err)
	}
	for _, s := range []string{"", ".", "9", "9.", ".0", "0.0", "09.0", "9.00", "9.0.0", "-9.0", "9.x", "sm_90"} {
		if got, err := ParseCapability(s); err == nil {
			t.Errorf("ParseCapability(%q) = %v, want an error", s, got)
		}
	}
}

func TestJSON(t *testing.T) {
	type pair struct {
		T Target
		C Capability
	}
	want := pair{Target{Compute, 103, Family}, Capability{10, 3}}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"T":"compute_103f","C":"10.3"}` {
		t.Fatalf("%s, %v", b, err)
	}
	var got pair
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if err := json.Unmarshal([]byte(`{"T":"","C":"9.0"}`), &got); err != nil || got.T != (Target{}) {
		t.Errorf("no target: %v, %v", got, err)
	}
	for _, bad := range []string{`{"T":"sm_x"}`, `{"C":"9"}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// FuzzParseTarget wants an error or a target that prints as it was written.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"sm_90a", "compute_120f", "lto_80", "sm_", "sm_090", "sm_99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseTarget(s)
		if err == nil && target.String() != s {
			t.Errorf("%q reads as %s", s, target)
		}
		if err != nil && target != (Target{}) {
			t.Errorf("%q: error and target %v", s, target)
		}
	})
}
