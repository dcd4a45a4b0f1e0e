package verify

import (
	"io"
	"os"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/cudaproof/cudaproof/pkg/report"
)

// Options are what a caller may choose. Nothing in them relaxes a rule: only
// the manifest can.
type Options struct {
	// Manifest is the manifest's path; empty: $CUDAPROOF_MANIFEST, then
	// cudaproof.yaml in the working directory.
	Manifest string
	// Evidence is the evidence folder, for Gate also one bundle in it; empty:
	// the manifest's.
	Evidence string
	// Reports is a folder for the reports in all forms; empty for none.
	Reports string
	// JSON asks for JSON on Stdout.
	JSON bool
	// Stdout takes data, Stderr the report for people and the log.
	Stdout, Stderr io.Writer
}

const defaultManifest = "cudaproof.yaml"

// manifestPath resolves the order of precedence: flag, environment, default.
func (o Options) manifestPath() string {
	if o.Manifest != "" {
		return o.Manifest
	}
	if path := os.Getenv("CUDAPROOF_MANIFEST"); path != "" {
		return path
	}
	return defaultManifest
}

func (o Options) withDefaults() Options {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	return o
}

// terminal reports whether people read w as it is written.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// style decorates for a terminal, unless NO_COLOR (no-color.org) is set.
func style(w io.Writer) report.Style {
	return report.Style{Color: terminal(w) && os.Getenv("NO_COLOR") == ""}
}

// logger writes the log of the targets.
func logger(w io.Writer) *logrus.Logger {
	log := logrus.New()
	log.SetOutput(w)
	log.SetFormatter(&logrus.TextFormatter{
		DisableColors:    !style(w).Color,
		DisableTimestamp: true,
	})
	return log
}
