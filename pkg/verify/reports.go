package verify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/report"
)

// reportFiles are the files of a report folder, by the forms of the report.
var reportFiles = []struct {
	name  string
	write func(io.Writer, *work, judge.Result, report.Options) error
}{
	{"report.txt", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		o.Style = report.Style{}
		return report.Text(w, k.record, r, o)
	}},
	{"report.json", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		return report.JSON(w, k.record, r, o)
	}},
	{"junit.xml", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		return report.JUnit(w, k.record, r, o)
	}},
	{"report.sarif", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		return report.SARIF(w, k.record, r, o)
	}},
	{"summary.md", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		return report.Markdown(w, k.record, r, o)
	}},
	{"report.html", func(w io.Writer, k *work, r judge.Result, o report.Options) error {
		return report.HTML(w, k.record, r, o, k.previous(o.Bundle))
	}},
}

// clearReports makes the report folder, and takes away the reports of another run,
// which must not be taken for those of this one.
func clearReports(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o755)
	for _, f := range reportFiles {
		if e := os.Remove(filepath.Join(dir, f.name)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return notVerified("the report folder cannot be used: %v", err)
	}
	return nil
}

// reports writes a judgement into the report folder, and to where GitHub looks for
// it when it runs the job.
func (w *work) reports(result judge.Result, o report.Options) error {
	var errs []error
	if dir := w.options.Reports; dir != "" {
		for _, f := range reportFiles {
			errs = append(errs, writeWhole(filepath.Join(dir, f.name), func(out io.Writer) error { return f.write(out, w, result, o) }))
		}
	}
	if o.Part == "" && os.Getenv("GITHUB_ACTIONS") == "true" {
		errs = append(errs, report.Annotations(w.options.Stderr, result))
		if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
			errs = append(errs, w.appendSummary(path, result, o))
		}
	}
	return errors.Join(errs...)
}

func (w *work) appendSummary(path string, result judge.Result, o report.Options) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	return errors.Join(report.Markdown(f, w.record, result, o), f.Close())
}

// writeWhole writes a file under another name and renames it: it is there whole or
// not at all.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(0o644), write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// previous gives the bundle before one in its folder, judged by the manifest as it
// is now; nil where there is none that can be read.
func (w *work) previous(of string) *report.Previous {
	if of == "" {
		return nil
	}
	path := w.manifest.Abs(of)
	all, err := bundle.List(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, other := range all { // newest first
		if filepath.Base(other) >= filepath.Base(path) {
			continue
		}
		r, err := bundle.Read(other)
		if err != nil || r.Project != w.record.Project {
			continue
		}
		return &report.Previous{Bundle: w.manifest.Rel(other), Record: r, Result: judge.Judge(w.manifest, r)}
	}
	return nil
}
