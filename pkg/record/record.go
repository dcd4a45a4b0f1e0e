// Package record defines the evidence document. The stages write it; the
// judgement, the reports and the gate are functions of it.
package record

import "time"

// Format names this edition of the document; a reader refuses another.
const Format = "cudaproof/record/1"

// Record is the evidence of one verification. Paths inside the manifest's
// folder are relative to it and slash-separated; others are absolute.
type Record struct {
	Format    string     `json:"format"`
	Tool      string     `json:"tool"` // cudaproof's version
	Project   string     `json:"project"`
	Manifest  File       `json:"manifest"`
	Source    Source     `json:"source"`
	Probe     Probe      `json:"probe"`
	Builds    []Build    `json:"builds,omitempty"`
	Artifacts []Artifact `json:"artifacts"`
	Libraries []Library  `json:"libraries,omitempty"`
	// Duplicates are the kernels that two files of one process define.
	Duplicates []Duplicate `json:"duplicates,omitempty"`
	Runs       []Run       `json:"runs,omitempty"`
	// Volatile holds what differs between two verifications of the same thing.
	Volatile Volatile `json:"volatile"`
}

// Volatile is the part of a record that no judgement looks at.
type Volatile struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Seconds is how long each run took, by Run.ID.
	Seconds map[string]float64 `json:"seconds,omitempty"`
}

// File is a file and the hash of its content.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Source identifies what was built.
type Source struct {
	// Commit is the revision checked out, empty outside a git work tree.
	Commit string `json:"commit,omitempty"`
	// Changed lists files that differ from the commit, evidence and build
	// outputs excepted; empty means a clean tree.
	Changed []string `json:"changed,omitempty"`
	// Problem says why git could not tell.
	Problem string `json:"problem,omitempty"`
	// Inputs are the files that the builds read, system headers excepted.
	Inputs []File `json:"inputs,omitempty"`
}

// ToolOutput is what another program said.
type ToolOutput struct {
	Command []string `json:"command"`
	Exit    int      `json:"exit"`
	Output  string   `json:"output"`
	// Problem says why it could not be run, or that its output is of no use.
	Problem string `json:"problem,omitempty"`
}
