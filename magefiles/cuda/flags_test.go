package cuda

import (
	"strings"
	"testing"
)

func TestRepeatedFlag(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"inspect -path=a", ""},
		{"inspect -path=a -json", ""},
		{"inspect -path=a -path=b", "-path=a and -path=b"},
		{"inspect -path=a -PATH=b", "-path=a and -PATH=b"},
		{"inspect -json -json=false", "-json and -json=false"},
		{"inspect -path=a inspect -path=b", ""},
		{"-v inspect -path=a", ""},
	} {
		err := repeatedFlag(strings.Fields(test.args))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.args, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", test.args, err, test.want)
		}
	}
}

func TestEmptyFlag(t *testing.T) {
	empty, full := "", "x"
	if err := emptyFlag(map[string]*string{"manifest": nil, "evidence": &full}); err != nil {
		t.Error(err)
	}
	if err := emptyFlag(map[string]*string{"manifest": &full, "evidence": &empty}); err == nil || !strings.Contains(err.Error(), "-evidence= has no value") {
		t.Errorf("got %v", err)
	}
}
