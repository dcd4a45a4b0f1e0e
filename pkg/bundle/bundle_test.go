package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/google/go-cmp/cmp"
)

// sample gives a record with one run whose output is text.
func sample(text string) *record.Record {
	sum := sha256.Sum256([]byte(text))
	return &record.Record{
		Format:  record.Format,
		Project: "ns::saxpy<float> & friends",
		Runs: []record.Run{{
			ID:     "f32/native/GPU-1",
			Stdout: record.Log{File: "runs/f32/stdout", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))},
		}},
	}
}

// write makes a complete bundle of sample(text) in dir.
func write(t *testing.T, dir, text string) string {
	t.Helper()
	w, err := Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(w.Dir(), "runs", "f32", "stdout"), text)
	path, err := w.Commit(sample(text))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", ".cudaproof")
	first, second := write(t, dir, "one"), write(t, dir, "two")

	paths, err := List(dir)
	if diff := cmp.Diff([]string{second, first}, paths); err != nil || diff != "" {
		t.Errorf("List: %v\n%s", err, diff)
	}
	if newest, err := Newest(dir); newest != second || err != nil {
		t.Errorf("Newest = %q, %v, want %q", newest, err, second)
	}
	r, err := Read(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample("one"), r); diff != "" {
		t.Error(diff)
	}
	if problems := CheckLogs(first, r); len(problems) > 0 {
		t.Error(problems)
	}
	data, err := os.ReadFile(filepath.Join(first, RecordName))
	if err != nil {
		t.Fatal(err)
	}
	again, err := encode(r)
	if err != nil || string(again) != string(data) {
		t.Errorf("written again, the record differs: %v", err)
	}
	if !strings.Contains(string(data), "  \"project\": \"ns::saxpy<float> & friends\",\n") || !strings.HasSuffix(string(data), "}\n") {
		t.Errorf("record.json is not readable:\n%s", data)
	}
	if got := len(names(t, dir)); got != 2 {
		t.Errorf("%d entries in the evidence folder, want the 2 bundles", got)
	}
}

func TestListIgnoresOthers(t *testing.T) {
	dir := t.TempDir()
	bundle := write(t, dir, "one")
	writeFile(t, filepath.Join(dir, "notes", RecordName), "{}")
	writeFile(t, filepath.Join(dir, ".tmp-20260101T000000.000Z-00000000", "x"), "")
	writeFile(t, filepath.Join(dir, "20990101T000000.000Z-00000000"), "a file")
	paths, err := List(dir)
	if diff := cmp.Diff([]string{bundle}, paths); err != nil || diff != "" {
		t.Errorf("List: %v\n%s", err, diff)
	}
}

func TestNewestOfNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	want := "no bundle in " + dir + ": run verify first, or name a bundle"
	if path, err := Newest(dir); err == nil || err.Error() != want {
		t.Errorf("Newest = %q, %v, want error %q", path, err, want)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w, err := Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(w.Dir(), "runs", "log"), "x")
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("left after Abort: %q", got)
	}
	if _, err := w.Commit(sample("")); err == nil {
		t.Error("Commit after Abort: no error")
	}

	path := write(t, dir, "one")
	w, err = Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(&record.Record{Format: "other"}); err == nil {
		t.Error("Commit of another format: no error")
	}
	if _, err := w.Commit(sample("")); err != nil {
		t.Error(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("%q in the evidence folder, want two bundles, one of them %s", got, path)
	}
}

func TestBeginNeedsAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	if _, err := Begin(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Begin on a file: %v", err)
	}
}

// Folders of living runs stay, those of dead ones go.
func TestBeginRemovesDead(t *testing.T) {
	dir := t.TempDir()
	living, err := Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, ".tmp-20260101T000000.000Z-00000000")
	writeFile(t, filepath.Join(dead, "runs", "log"), "x")
	other, err := Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Abort()
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the folder of a dead run is still there: %v", err)
	}
	if _, err := living.Commit(sample("")); err != nil {
		t.Errorf("the folder of a living run is gone: %v", err)
	}
}

func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const runs = 16
	for range runs {
		wg.Go(func() {
			w, err := Begin(dir)
			if err != nil {
				t.Error(err)
				return
			}
			text := filepath.Base(w.Dir())
			path := filepath.Join(w.Dir(), "runs", "f32")
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(path, "stdout"), []byte(text), 0o644); err != nil {
				t.Error(err)
			}
			if _, err := w.Commit(sample(text)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	paths, err := List(dir)
	if err != nil || len(paths) != runs || len(names(t, dir)) != runs {
		t.Errorf("%d bundles among %d entries, want %d: %v", len(paths), len(names(t, dir)), runs, err)
	}
	checkAll(t, dir)
}

// checkAll demands that every bundle is whole.
func checkAll(t *testing.T, dir string) (bundles int) {
	t.Helper()
	paths, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		r, err := Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, problem := range CheckLogs(path, r) {
			t.Errorf("%s: %s", path, problem)
		}
	}
	return len(paths)
}
