package devicecode

import "testing"

func TestName(t *testing.T) {
	for mangled, want := range map[string]string{
		"_Z6write7Pi":              "write7",
		"_ZN2ns5saxpyIfEEvPT_S2_i": "ns::saxpy<float>",
		"_ZN2ns3redIPfEEvT_":       "ns::red<float*>",
		"_Z1kILi3ELb1EEvv":         "k<3, true>",
		"_ZN12_GLOBAL__N_11kEPi":   "(anonymous namespace)::k",
		"_Z1kIN2ns1tIiEEEvT_":      "k<ns::t<int>>",
		"_Z1kIjmEvT_T0_":           "k<unsigned int, unsigned long>",
		"plain":                    "plain",
		"_Z":                       "_Z",
		"":                         "",
		"_Z1kIPFivEEvT_":           "k<int(*)()>",
		"_Z1kIPKcEvT_":             "k<char const*>",
		"_Z1kIZ4mainEUliE_EvT_":    "k<main::{lambda(int)#1}>",
		"_ZN47_GLOBAL__N__7a1e6a3c_4_k_cu_3c5d1f38_1234561kEPi": "_ZN47_GLOBAL__N__7a1e6a3c_4_k_cu_3c5d1f38_1234561kEPi",
	} {
		if got := Name(mangled); got != want {
			t.Errorf("Name(%q) = %q, want %q", mangled, got, want)
		}
	}
}

func TestNormalizeName(t *testing.T) {
	for name, want := range map[string]string{
		"ns::saxpy<float>":            "ns::saxpy<float>",
		" ns :: red < float * > ":     "ns::red<float*>",
		"k<1,2>":                      "k<1, 2>",
		"k<a<b> >":                    "k<a<b>>",
		"k<unsigned  long>":           "k<unsigned long>",
		"( anonymous\tnamespace )::k": "(anonymous namespace)::k",
		"":                            "",
	} {
		if got := NormalizeName(name); got != want {
			t.Errorf("NormalizeName(%q) = %q, want %q", name, got, want)
		}
		if again := NormalizeName(want); again != want {
			t.Errorf("NormalizeName(%q) = %q: not stable", want, again)
		}
	}
}

// FuzzName wants a name of bounded length in its normal form.
func FuzzName(f *testing.F) {
	for _, s := range []string{"_ZN2ns5saxpyIfEEvPT_S2_i", "_Z1kIZ4mainEUliE_EvT_", "plain", "_Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, mangled string) {
		name := Name(mangled)
		if len(name) > 2<<maxNameBits && name != mangled {
			t.Fatalf("name of %d bytes", len(name))
		}
		if name != mangled && NormalizeName(name) != name {
			t.Fatalf("%q is not in its normal form", name)
		}
	})
}
