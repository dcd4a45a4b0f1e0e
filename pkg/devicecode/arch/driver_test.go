package arch

import "testing"

func TestParseDriver(t *testing.T) {
	for s, want := range map[string]string{
		"13.0": "13.0", "11.8": "11.8", "12.10": "12.10", "580": "13.0", "580.65.06": "13.0", "580.159.04": "13.0",
		"550": "12.4", "535.104": "12.2", "560": "12.6", "565": "12.7", "384": "9.0",
	} {
		if got, err := ParseDriver(s); err != nil || got.CUDA != want {
			t.Errorf("%s: CUDA %q, %v; want %s", s, got.CUDA, err, want)
		}
	}
	// 540 is of Jetson, and supports CUDA 12.6 (JetPack 6.2).
	for _, s := range []string{"", "13", "13.0.1", "540.4.0", "999", "x", "5x0", "-580", "+580", "580.", ".", "13.", "99999999", "580.65.06 "} {
		if got, err := ParseDriver(s); err == nil || got != (Driver{}) {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
}

func TestCompilesPTX(t *testing.T) {
	type answer struct{ compiles, known bool }
	for _, test := range []struct {
		cuda, ptx string
		want      answer
	}{
		{"13.0", "9.0", answer{true, true}},
		{"13.0", "7.8", answer{true, true}},
		{"13.0", "5.0", answer{true, true}},
		{"12.4", "8.4", answer{true, true}},
		{"12.4", "8.5", answer{false, true}},
		{"12.6", "8.5", answer{true, true}}, // written by 12.5 already
		{"11.8", "8.0", answer{false, true}},
		{"13.0", "9.9", answer{false, true}}, // newer than the table, so newer than that driver
		{"14.0", "9.5", answer{true, true}},
		{"14.0", "10.0", answer{false, false}},
	} {
		compiles, known := Driver{test.cuda}.CompilesPTX(test.ptx)
		if got := (answer{compiles, known}); got != test.want {
			t.Errorf("CUDA %s, PTX %s: %+v, want %+v", test.cuda, test.ptx, got, test.want)
		}
	}
}

func TestFloors(t *testing.T) {
	for toolkit, want := range map[string]string{"13.0": "13.0", "13.2": "13.0", "12.9": "12.0", "11.8": "11.0", "10.2": "10.2", "": ""} {
		if got := FloorOfCubin(toolkit); got != want {
			t.Errorf("machine code of %q: CUDA %q, want %q", toolkit, got, want)
		}
	}
	for compression, want := range map[string]string{"zstd": "12.4", "lz4": "", "": ""} {
		if got := FloorOfCompression(compression); got != want {
			t.Errorf("compression %q: CUDA %q, want %q", compression, got, want)
		}
	}
	for c, want := range map[Capability]string{
		{6, 1}: "", {8, 6}: "11.1", {8, 9}: "11.8", {12, 1}: "12.9", {11, 0}: "13.0", {10, 7}: "13.4", {13, 0}: "",
	} {
		if got := FloorOfDevice(c); got != want {
			t.Errorf("%s: CUDA %q, want %q", c, got, want)
		}
	}
	for _, test := range []struct {
		driver, device string
		drops          bool
	}{
		{"13.0", "7.0", false}, {"13.1", "7.0", true}, {"13.1", "7.5", false}, {"11.4", "3.5", false}, {"11.5", "3.5", true},
		{"", "5.2", false}, {"13.4", "7.2", false}, {"13.4", "9.0", false},
	} {
		c, err := ParseCapability(test.device)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Driver{CUDA: test.driver}).Drops(c); got != test.drops {
			t.Errorf("driver of CUDA %q drops %s: %v", test.driver, test.device, got)
		}
	}
	if got := Newer("", "9.2", "10.0", "9.0"); got != "10.0" {
		t.Errorf("newest of 9.2, 10.0, 9.0: %s", got)
	}
}

func TestDriverString(t *testing.T) {
	for cuda, want := range map[string]string{
		"": "any driver", "13.0": "a driver of CUDA 13.0 (580)", "13.5": "a driver of CUDA 13.5", "15.0": "a driver of CUDA 15.0",
	} {
		if got := (Driver{cuda}).String(); got != want {
			t.Errorf("%q: %q, want %q", cuda, got, want)
		}
	}
}

// Every device that is named is one that a toolkit compiles for.
func TestProducts(t *testing.T) {
	known := Known()
	if len(known) != 20 {
		t.Errorf("%d capabilities", len(known))
	}
	for _, c := range known {
		if !c.Listed() || c.Products() == "" {
			t.Errorf("%s: listed %v, products %q", c, c.Listed(), c.Products())
		}
	}
	if got := (Capability{12, 1}).Products(); got != "GB10 (DGX Spark)" {
		t.Errorf("12.1: %s", got)
	}
}
