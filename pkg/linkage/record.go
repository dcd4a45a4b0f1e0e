package linkage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of one file of the record. A program that loads a few hundred
// libraries writes 100 KB; each process forked from it shares its file.
const (
	maxRecord     = 16 << 20 // bytes
	maxRecordLine = 256 << 10
	maxRecorded   = 1 << 20 // libraries, over all program images
)

// ReadRecord reads the files that LD_DEBUG=files LD_DEBUG_OUTPUT=dir/prefix
// made glibc's loader write, one per process, dir/prefix.PID (ld.so(8)). It
// gives every program image that was started, by process number and then in
// the order of exec. Relative names are resolved against workdir, the working
// directory that the first program was started in, when the file exists there.
//
// Statically linked programs leave no record, and the loader does not say when
// it could not write one. No files are an empty result.
func ReadRecord(dir, prefix, workdir string) ([]Process, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		pid  int
		name string
	}
	var files []file
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), prefix+".")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil || pid <= 0 {
			continue
		}
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s: not a regular file: not written by the loader", filepath.Join(dir, e.Name()))
		}
		files = append(files, file{pid, e.Name()})
	}
	slices.SortFunc(files, func(a, b file) int { return a.pid - b.pid })
	var processes []Process
	for _, f := range files {
		images, err := readRecordFile(filepath.Join(dir, f.name), f.pid)
		if err != nil {
			return nil, err
		}
		for _, p := range images {
			processes = append(processes, p.resolve(workdir))
		}
	}
	return processes, nil
}

func readRecordFile(path string, pid int) ([]Process, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	processes, err := parseRecord(f, pid)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return processes, nil
}

// resolve makes the names absolute where a file is found, and follows the
// symbolic links of the libraries.
func (p Process) resolve(workdir string) Process {
	p.Program = absolute(p.Program, workdir)
	for i, lib := range p.Libraries {
		lib = absolute(lib, workdir)
		if real, err := filepath.EvalSymlinks(lib); err == nil && filepath.IsAbs(lib) {
			lib = real
		}
		p.Libraries[i] = lib
	}
	return p
}

func absolute(name, workdir string) string {
	if filepath.IsAbs(name) || !strings.Contains(name, "/") {
		return name // a bare name was found through PATH: it says nothing of a place
	}
	path := filepath.Join(workdir, name)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path
	}
	return name
}

// image is a program image as the record tells of it.
type image struct {
	Process
	mapped map[string]bool // base names of "generating link map"
	ready  map[string]bool // Libraries
	// running says that control went to the program: what comes later was
	// loaded with dlopen. startup counts the libraries loaded before.
	running bool
	startup int
	// parent is the image that this one was forked from, nil after an exec;
	// opened says that a forked one loaded a library itself.
	parent *image
	opened bool
}

func (i *image) hasMapped(path string) bool {
	name := filepath.Base(path)
	return i.mapped[name] || i.parent != nil && i.parent.mapped[name]
}

// parseRecord reads the record of the process pid (glibc, elf/rtld.c,
// dl-load.c, dl-init.c). Lines start with the number of the process that
// wrote them: one that was forked without exec goes on in its parent's file.
// An exec appends the new program's lines to the old one's. A last line
// without an end is one that a killed process did not finish; it is left out.
func parseRecord(r io.Reader, pid int) ([]Process, error) {
	p := recordParser{pid: pid, current: map[int]*image{}}
	limited := &io.LimitedReader{R: r, N: maxRecord + 1}
	lines := bufio.NewReaderSize(limited, maxRecordLine)
	for {
		line, err := lines.ReadSlice('\n')
		if err == nil {
			p.line(string(bytes.TrimSuffix(line, []byte("\n"))))
			if p.recorded > maxRecorded {
				return nil, fmt.Errorf("more than %d libraries", maxRecorded)
			}
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("a line of over %d bytes: not written by the loader", maxRecordLine)
		}
		if err != io.EOF {
			return nil, err
		}
		if limited.N == 0 {
			return nil, fmt.Errorf("more than %d bytes", maxRecord)
		}
		return p.processes(), nil
	}
}

type recordParser struct {
	pid     int
	images  []*image
	current map[int]*image // by process
	// recorded counts the libraries of all images.
	recorded int
}

func (p *recordParser) line(line string) {
	number, text, ok := strings.Cut(line, ":\t")
	pid, err := strconv.Atoi(strings.TrimLeft(number, " "))
	if !ok || err != nil {
		return
	}
	text = strings.TrimLeft(text, " ")
	if name, ok := strings.CutPrefix(text, "file="); ok {
		p.file(pid, name)
	} else if path, ok := strings.CutPrefix(text, "calling init: "); ok {
		now := p.of(pid)
		now.opened = p.add(now, path) || now.opened
	} else if path, ok := strings.CutPrefix(text, "calling fini: "); ok {
		p.finished(p.of(pid), path)
	} else if name, ok := strings.CutPrefix(text, "initialize program: "); ok {
		p.started(pid, name)
	} else if _, ok := strings.CutPrefix(text, "transferring control: "); ok {
		p.of(pid).transferred()
	}
}

// file handles "NAME [NS];  generating link map" and "NAME [NS];  needed by
// NAME [NS]".
func (p *recordParser) file(pid int, text string) {
	name, what, ok := strings.Cut(text, "];  ")
	if !ok {
		return
	}
	name, _, _ = strings.Cut(name, " [")
	if what == "generating link map" {
		p.of(pid).mapped[filepath.Base(name)] = true
		return
	}
	user, ok := strings.CutPrefix(what, "needed by ")
	if !ok {
		return
	}
	user, _, _ = strings.Cut(user, " [")
	if now := p.of(pid); now.running && !now.hasMapped(user) {
		// Once a program runs, only a library that it has opened can need
		// another: this is the first line of the next program.
		p.begin(pid)
	}
}

// started handles "initialize program: NAME".
func (p *recordParser) started(pid int, name string) {
	if p.of(pid).running { // the next program, which needs no library
		p.begin(pid)
	}
	p.of(pid).Program = name
}

// of gives the current image of a process.
func (p *recordParser) of(pid int) *image {
	if now := p.current[pid]; now != nil {
		return now
	}
	now := p.begin(pid)
	if parent := p.current[p.pid]; pid != p.pid && parent != nil && parent.running {
		// Of the parent's libraries only those loaded at its start were surely
		// there when it forked. (A parent that forks and then execs, while the
		// child goes on without exec, would mislead us.)
		now.Program, now.running, now.parent = parent.Program, true, parent
		for _, lib := range parent.Libraries[:parent.startup] {
			p.add(now, lib)
		}
	}
	return now
}

func (p *recordParser) begin(pid int) *image {
	now := &image{mapped: map[string]bool{}, ready: map[string]bool{}}
	p.images = append(p.images, now)
	p.current[pid] = now
	return now
}

// add handles "calling init: PATH" and reports whether the library is new.
// Both lines are asked for, since a failed dlopen may print the first.
func (p *recordParser) add(now *image, path string) bool {
	if !now.hasMapped(path) || now.ready[path] {
		return false
	}
	now.ready[path] = true
	now.Libraries = append(now.Libraries, path)
	p.recorded++
	return true
}

// finished handles "calling fini: PATH [NS]": a forked process that ends with
// exit names what it has from its parent.
func (p *recordParser) finished(now *image, text string) {
	if end := strings.LastIndex(text, " ["); now.parent != nil && end > 0 {
		p.add(now, text[:end])
	}
}

// processes leaves out what never became a program, because the loader stopped
// or the process was killed, and forked processes that loaded nothing: they
// are no more than their parent.
func (p *recordParser) processes() []Process {
	var processes []Process
	for _, i := range p.images {
		if i.Program != "" && (i.parent == nil || i.opened) {
			processes = append(processes, i.Process)
		}
	}
	return processes
}

func (i *image) transferred() {
	if !i.running {
		i.running, i.startup = true, len(i.Libraries)
	}
}
