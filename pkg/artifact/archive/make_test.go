package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive/archivetest"
)

// files are what the archives of these tests hold.
var files = []struct{ name, content string }{
	{"pkg/a.txt", "first file\n"},
	{"pkg/b.txt", "second file, somewhat longer\n"},
}

// made gives one archive of each kind, by the name of its file.
func made() map[string][]byte {
	plain := makeTar()
	return map[string][]byte{
		"x.tar":        plain,
		"x.tgz":        archivetest.Gzip(plain),
		"x.tar.zst":    zstded(plain),
		"x.tar.xz":     archivetest.Must(os.ReadFile("testdata/files.tar.xz")),
		"x.tar.bz2":    archivetest.Must(os.ReadFile("testdata/files.tar.bz2")),
		"x.whl":        makeZip(zip.Deflate),
		"stored.zip":   makeZip(zip.Store),
		"zstd.zip":     makeZip(zstd.ZipMethodWinZip),
		"x.deb":        makeDeb("debian-binary", "2.0\n", "control.tar.gz", string(archivetest.Gzip(archivetest.Tar([]tar.Header{{Name: "./", Typeflag: tar.TypeDir}}))), "data.tar.zst", string(zstded(plain))),
		"x.conda":      makeConda(plain),
		"plain.deb":    makeDeb("debian-binary", "2.0\n", "data.tar", string(plain)),
		"pkg/a.txt.gz": archivetest.Gzip([]byte(files[0].content)),
	}
}

func makeTar() []byte {
	var headers []tar.Header
	for _, f := range files {
		headers = append(headers, tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.content))})
	}
	return archivetest.Tar(headers, files[0].content, files[1].content)
}

func zstded(b []byte) []byte {
	return archivetest.Must(zstd.NewWriter(nil)).EncodeAll(b, nil)
}

func makeZip(method uint16) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, f := range files {
		in := archivetest.Must(w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method}))
		archivetest.Must(io.WriteString(in, f.content))
	}
	archivetest.Close(w)
	return b.Bytes()
}

func makeConda(plain []byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"metadata.json": "{}", "pkg-x-1.tar.zst": string(zstded(plain)), "info-x-1.tar.zst": string(zstded(archivetest.Tar([]tar.Header{{Name: "info", Typeflag: tar.TypeDir}}))),
	} {
		in := archivetest.Must(w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}))
		archivetest.Must(io.WriteString(in, content))
	}
	archivetest.Close(w)
	return b.Bytes()
}

// makeDeb makes an ar of names and contents.
func makeDeb(parts ...string) []byte {
	b := []byte("!<arch>\n")
	for ; len(parts) > 0; parts = parts[2:] {
		b = fmt.Appendf(b, "%-16s%-12s%-6s%-6s%-8s%-10d`\n%s", parts[0], "0", "0", "0", "100644", len(parts[1]), parts[1])
		if len(b)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}

// walk reads an archive whole and gives its files as "name=content".
func walk(t testing.TB, name string, b []byte, budget *Budget) (got []string, w *Walker) {
	t.Helper()
	w = &Walker{
		Budget: budget,
		Want:   func(string, []byte) bool { return true },
		Visit:  func(name string, content []byte) { got = append(got, name+"="+string(content)) },
	}
	w.Walk(b, name)
	return got, w
}
