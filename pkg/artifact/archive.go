package artifact

import (
	"fmt"
	"io"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// readArchive reads the members of a static library, one object each.
func (f *File) readArchive(r io.ReaderAt, size int64, o devicecode.Options) {
	members, err := ar.Members(r, size)
	if err != nil {
		f.Problem = "damaged static library: " + err.Error()
	} else if len(members) == 0 {
		f.Problem = "the static library is empty"
	}
	for _, m := range members {
		f.Objects = append(f.Objects, readMember(r, m, o))
	}
}

// readMember reads one member. What cannot be read is a problem of its code,
// so that the others still count.
func readMember(r io.ReaderAt, m ar.Member, o devicecode.Options) Object {
	object, err := memberObject(r, m, o)
	if err != nil {
		object = Object{Code: devicecode.Code{Problems: []devicecode.Problem{{Text: err.Error()}}}}
	}
	object.Name = m.Name
	return object
}

func memberObject(r io.ReaderAt, m ar.Member, o devicecode.Options) (Object, error) {
	if m.Offset == 0 {
		return Object{}, fmt.Errorf("the library is thin: this member is the file %q outside it; inspect that file, or make the library without T", m.Name)
	}
	section := io.NewSectionReader(r, m.Offset, m.Size)
	head, err := readHead(section, m.Size)
	if err != nil {
		return Object{}, err
	}
	object, _, err := readObject(section, m.Size, head, o)
	return object, err
}
