package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// ReadFolder reads what the processes of a run wrote into a folder.
func ReadFolder(dir string) record.Trace {
	names, err := filepath.Glob(filepath.Join(dir, "*.trace"))
	if err != nil || len(names) == 0 {
		return record.Trace{Problem: "no process wrote a trace: none used CUDA, or the variables did not reach it"}
	}
	var t record.Trace
	for _, name := range names {
		p, err := readProcess(name)
		if err != nil {
			t.Problem = fmt.Sprintf("%s: %v", filepath.Base(name), err)
			continue
		}
		t.Processes = append(t.Processes, p)
	}
	slices.SortStableFunc(t.Processes, func(a, b record.TracedProcess) int { return strings.Compare(a.Program, b.Program) })
	return t
}

func readProcess(name string) (p record.TracedProcess, err error) {
	err = withFile(name, func(b []byte) error {
		read, err := Read(b)
		if err == nil {
			p = summarise(read, filepath.Dir(name))
		}
		return err
	})
	return p, err
}

func withFile(name string, do func([]byte) error) error {
	f, err := filemap.OpenRegular(name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return filemap.Do(f, do)
}

// summarise gives a process as the record has it: modules by their hash, kernels
// with the modules that define them.
func summarise(p *Process, dir string) record.TracedProcess {
	out := record.TracedProcess{Program: p.Executable, Variables: p.Variables, Libraries: p.Libraries, Notices: p.Notices}
	if len(p.Variables) == 0 {
		out.Variables = nil
	}
	for _, c := range p.Contexts {
		if c.Device != "" {
			out.Devices = append(out.Devices, c.Device)
		}
	}
	for _, f := range p.Failures {
		out.Failures = append(out.Failures, record.TracedFailure(f))
	}
	slices.Sort(out.Devices)
	out.Devices = slices.Compact(out.Devices)
	if p.Lost > 0 {
		out.Notices = append(out.Notices, fmt.Sprintf("%d records were lost: the file was full", p.Lost))
	}
	hashes := make([]string, len(p.Modules))
	defines := map[string][]string{} // hashes of modules by kernel
	for n, m := range p.Modules {
		hash, kernels, err := readImage(dir, m)
		hashes[n] = hash
		if err != nil {
			out.Notices = append(out.Notices, fmt.Sprintf("module %d: %v", m.ID, err))
			continue
		}
		at := slices.IndexFunc(out.Modules, func(t record.TracedModule) bool { return t.SHA256 == hash })
		if at >= 0 {
			out.Modules[at].Loads++
			continue
		}
		out.Modules = append(out.Modules, record.TracedModule{SHA256: hash, Size: m.Size, Loads: 1})
		for _, k := range kernels {
			defines[k] = append(defines[k], hash)
		}
	}
	out.Kernels = launched(p.Kernels, hashes, defines)
	return out
}

// readImage gives the hash of a module's image and the kernels in it.
func readImage(dir string, m Module) (hash string, kernels []string, err error) {
	if m.Image == "" || m.Image != filepath.Base(m.Image) {
		return "", nil, fmt.Errorf("its image was not written")
	}
	err = withFile(filepath.Join(dir, m.Image), func(b []byte) error {
		if int64(len(b)) != m.Size {
			return fmt.Errorf("its image has %d bytes, want %d", len(b), m.Size)
		}
		sum := sha256.Sum256(b)
		hash = hex.EncodeToString(sum[:])
		f, err := cubin.Read(b)
		if err != nil {
			return nil // what is no cubin defines no kernel that is known
		}
		for _, k := range f.Kernels {
			kernels = append(kernels, k.Name)
		}
		return nil
	})
	return hash, kernels, err
}

// launched adds up the launches of each kernel over contexts. A kernel is told
// apart by its module where that is known, and where the module does define it;
// else it can be in every module that does.
func launched(kernels []Kernel, hashes []string, defines map[string][]string) []record.TracedKernel {
	var list []record.TracedKernel
	for _, k := range kernels {
		count := k.Launches + k.GraphLaunches
		if count == 0 {
			continue
		}
		modules := defines[k.Name]
		if n := k.Module - 1; n >= 0 && n < len(hashes) && slices.Contains(modules, hashes[n]) {
			modules = hashes[n : n+1]
		}
		at := slices.IndexFunc(list, func(t record.TracedKernel) bool { return t.Mangled == k.Name && slices.Equal(t.Modules, modules) })
		if at >= 0 {
			list[at].Launches += count
			continue
		}
		list = append(list, record.TracedKernel{Mangled: k.Name, Name: devicecode.Name(k.Name), Launches: count, Modules: modules})
	}
	slices.SortStableFunc(list, func(a, b record.TracedKernel) int { return strings.Compare(a.Mangled, b.Mangled) })
	return list
}
