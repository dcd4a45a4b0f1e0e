package artifact

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
	"github.com/cudaproof/cudaproof/pkg/artifact/image"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// maxDepth bounds how many archives lie one in another.
const maxDepth = 4

// inside reads the files in an archive, and in archives within it.
type inside struct {
	file    *File
	options devicecode.Options
	budget  *archive.Budget
}

// isArchive reports whether b is an archive or a compressed file.
func isArchive(b []byte) bool { return archive.FormatOf(b[:min(len(b), headSize)]) != "" }

// readArchive reads the files in an archive, one object each; those of static
// libraries in it one for each of their members.
func (f *File) readArchive(b []byte, o devicecode.Options) {
	f.Format = Format(archive.FormatOf(b[:min(len(b), headSize)]))
	i := inside{f, o, archive.NewBudget(int64(len(b)))}
	i.archive(b, path.Base(f.Path), "", 1)
}

// archive reads one archive; the names of its files begin with prefix.
func (i *inside) archive(b []byte, name, prefix string, depth int) {
	w := i.walker(prefix, depth)
	defer func() { i.finish(w, prefix) }()
	tar, release, err := imageTar(b, w)
	if err != nil {
		w.Problems = append(w.Problems, archive.Problem{Text: err.Error()})
		return
	}
	defer release()
	if tar == nil {
		w.Walk(b, name)
		return
	}
	get, err := image.FromTar(tar, w)
	switch {
	case err != nil:
		w.Problems = append(w.Problems, archive.Problem{Text: err.Error()})
	case image.Is(get):
		if depth == 1 {
			i.file.Format = ContainerImage
		}
		image.Walk(get, w)
	default:
		w.Problems = nil // those of the walk that follows
		w.Walk(b, name)
	}
}

// imageName is how the first member of an image's tar is named.
var imageName = regexp.MustCompile(`^(\./)?(blobs(/.*)?|oci-layout|index\.json|manifest\.json|repositories|[0-9a-f]{64}(/.*|\.json)?)$`)

// imageTar gives the tar, not compressed, of what may be an image, nil for other
// archives.
func imageTar(b []byte, w *archive.Walker) (tar []byte, release func(), err error) {
	release = func() {}
	if !imageName.MatchString(archive.FirstName(b)) {
		return nil, release, nil
	}
	if archive.FormatOf(b[:min(len(b), headSize)]) == archive.Tar {
		return b, release, nil
	}
	return w.Unpacked(b)
}

func (i *inside) walker(prefix string, depth int) *archive.Walker {
	return &archive.Walker{Budget: i.budget, Want: wanted, Visit: func(name string, content []byte) {
		i.visit(prefix+name, content, depth)
	}}
}

// finish takes what a walk found besides files. What is wrong with one file is a
// problem of an object of its name.
func (i *inside) finish(w *archive.Walker, prefix string) {
	i.file.Others += w.Others
	i.file.Links += w.Links
	for _, p := range w.Problems {
		switch name := prefix + p.Member; {
		case name != "":
			i.problem(strings.TrimSuffix(name, "!"), p.Text)
		case i.file.Problem == "":
			i.file.Problem = p.Text
		default:
			i.file.Problem += "; " + p.Text
		}
	}
}

func (i *inside) problem(name, text string) {
	at := slices.IndexFunc(i.file.Objects, func(o Object) bool { return o.Name == name })
	if at < 0 {
		at = len(i.file.Objects)
		i.file.Objects = append(i.file.Objects, Object{Name: name})
	}
	code := &i.file.Objects[at].Code
	code.Problems = append(code.Problems, devicecode.Problem{Text: text})
}

// wanted tells the files that can carry device code, by their first bytes or by
// a name that promises it.
func wanted(name string, head []byte) bool {
	switch path.Ext(name) {
	case ".ptx", ".cubin", ".fatbin":
		return true
	}
	return bytes.HasPrefix(head, []byte("\x7fELF")) || isLibrary(head) || fatbin.Is(head) || ptx.Is(head) || isArchive(head)
}

func (i *inside) visit(name string, content []byte, depth int) {
	switch {
	case isArchive(content) && depth == maxDepth:
		i.problem(name, fmt.Sprintf("more than %d archives one in another are not read", maxDepth))
	case isArchive(content):
		i.archive(content, path.Base(name), name+"!", depth+1)
	case isLibrary(content):
		i.library(name, content)
	default:
		object, format, err := readObject(content, i.options)
		object.Name, object.Format, object.Size, object.SHA256 = name, format, int64(len(content)), hashBytes(content)
		if err != nil {
			object.Code.Problems = append(object.Code.Problems, devicecode.Problem{Text: err.Error()})
		}
		i.file.Objects = append(i.file.Objects, object)
	}
}

func (i *inside) library(name string, content []byte) {
	objects, err := readLibrary(content, i.options)
	for _, o := range objects {
		o.Name, o.Format = name+"!"+o.Name, ObjectFile
		i.file.Objects = append(i.file.Objects, o)
	}
	if err != nil {
		i.problem(name, err.Error())
	}
}
