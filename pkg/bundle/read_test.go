package bundle

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/google/go-cmp/cmp"
)

func TestReadErrors(t *testing.T) {
	whole, err := encode(sample("x"))
	if err != nil {
		t.Fatal(err)
	}
	const advice = ": the file was changed or cut off; verify again"
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "unexpected end of JSON input" + advice},
		{"cut off", string(whole[:len(whole)/2]), "unexpected end of JSON input" + advice},
		{"null", "null", `found format "", expected "cudaproof/record/1": use the cudaproof that wrote it, or verify again`},
		{"newer", `{"format": "cudaproof/record/2", "verdict": "passed"}`, `found format "cudaproof/record/2", expected "cudaproof/record/1": use the cudaproof that wrote it, or verify again`},
		{"unknown field", `{"format": "cudaproof/record/1", "verdict": "passed"}`, `json: unknown field "verdict"` + advice},
		{"wrong type", `{"format": "cudaproof/record/1", "project": 5}`, "json: cannot unmarshal number into Go struct field Record.project of type string" + advice},
		{"two records", string(whole) + string(whole), "invalid character '{' after top-level value" + advice},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, RecordName), tc.text)
			r, err := Read(dir)
			if want := "bundle " + dir + ": record.json: " + tc.want; r != nil || err == nil || err.Error() != want {
				t.Errorf("Read = %v, %v, want error %q", r, err, want)
			}
		})
	}
}

func TestReadNotAFile(t *testing.T) {
	none, pipe, link, large := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(pipe, RecordName), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(link, RecordName)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(large, RecordName), "")
	if err := os.Truncate(filepath.Join(large, RecordName), maxRecord+1); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		none:  "no record.json in it: name the folder of one bundle",
		pipe:  "record.json is not a regular file",
		link:  "record.json is not a regular file",
		large: "record.json has 536870913 bytes, expected at most 536870912",
	} {
		if _, err := Read(dir); err == nil || err.Error() != "bundle "+dir+": "+want {
			t.Errorf("Read: %v, want %q", err, want)
		}
	}
}

func TestCheckLogs(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "PASS\n")
	writeFile(t, filepath.Join(dir, "outside"), "PASS\n")
	for name, target := range map[string]string{"link": "../outside", "folder": ".."} {
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	good := sample("PASS\n").Runs[0].Stdout
	for _, tc := range []struct {
		name string
		edit func(*record.Log)
		want string // "" for no problem
	}{
		{"good", func(*record.Log) {}, ""},
		{"nothing written", func(l *record.Log) { *l = record.Log{} }, ""},
		{"nothing named", func(l *record.Log) { l.File = "" }, "the record gives 5 bytes but no file"},
		{"missing", func(l *record.Log) { l.File = "runs/f32/stderr" }, `the file "runs/f32/stderr" is missing`},
		{"size", func(l *record.Log) { l.Size = 4 }, `the file "runs/f32/stdout" has 5 bytes, the record says 4`},
		{"content", func(l *record.Log) { l.SHA256 = "00" }, `the file "runs/f32/stdout" has the SHA-256 ` + good.SHA256 + `, the record says "00"`},
		{"no hash", func(l *record.Log) { l.SHA256 = "" }, `the file "runs/f32/stdout" has the SHA-256 ` + good.SHA256 + `, the record says ""`},
		{"folder", func(l *record.Log) { l.File = "runs" }, `"runs" is not a regular file`},
		{"link", func(l *record.Log) { l.File = "link" }, `"link" is not a regular file`},
		{"outside by link", func(l *record.Log) { l.File = "folder/outside" }, `the file "folder/outside" cannot be read: path escapes from parent`},
		{"outside by dots", func(l *record.Log) { l.File = "../outside" }, `the file "../outside" cannot be read: path escapes from parent`},
		{"absolute", func(l *record.Log) { l.File = "/etc/passwd" }, `the file "/etc/passwd" cannot be read: path escapes from parent`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := sample("PASS\n")
			r.Runs[0].Stderr = good
			tc.edit(&r.Runs[0].Stderr)
			got := CheckLogs(path, r)
			var want []string
			if tc.want != "" {
				want = []string{`stderr of run "f32/native/GPU-1": ` + tc.want}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := CheckLogs(filepath.Join(dir, "none"), sample("")); len(got) != 1 {
		t.Errorf("CheckLogs without a bundle: %q, want one problem", got)
	}
}

func FuzzDecode(f *testing.F) {
	whole, err := encode(sample("x"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"format": "cudaproof/record/1", "probe": {"devices": [{"capability": "9.0"}]}}`))
	f.Add([]byte(`{"format": "cudaproof/record/2"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if (r == nil) == (err == nil) {
			t.Fatalf("decode = %v, %v: want one of the two", r, err)
		}
		if err != nil {
			return
		}
		written, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(written)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := encode(again); err != nil || string(twice) != string(written) {
			t.Fatalf("not stable: %v\n%s\n%s", err, written, twice)
		}
	})
}
