package artifact

import (
	"bytes"
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

func isLibrary(b []byte) bool {
	return bytes.HasPrefix(b, []byte(ar.Magic)) || bytes.HasPrefix(b, []byte(ar.ThinMagic))
}

// readLibrary reads the members of a static library, one object each. An error
// comes with the objects before the damage.
func readLibrary(b []byte, o devicecode.Options) ([]Object, error) {
	members, err := ar.Members(bytes.NewReader(b), int64(len(b)))
	switch {
	case err != nil:
		err = fmt.Errorf("damaged static library: %w", err)
	case len(members) == 0:
		err = fmt.Errorf("the static library is empty")
	}
	var objects []Object
	for _, m := range members {
		objects = append(objects, readMember(b, m, o))
	}
	return objects, err
}

// readMember reads one member. What cannot be read is a problem of its code,
// so that the others still count.
func readMember(b []byte, m ar.Member, o devicecode.Options) Object {
	object, err := memberObject(b, m, o)
	if err != nil {
		object = Object{Code: devicecode.Code{Problems: []devicecode.Problem{{Text: err.Error()}}}}
	}
	object.Name = m.Name
	return object
}

func memberObject(b []byte, m ar.Member, o devicecode.Options) (Object, error) {
	if m.Offset == 0 {
		return Object{}, fmt.Errorf("the library is thin: this member is the file %q outside it; inspect that file, or make the library without T", m.Name)
	}
	object, _, err := readObject(b[m.Offset:m.Offset+m.Size], o)
	return object, err
}
