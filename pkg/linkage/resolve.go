package linkage

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// platform is what the loader's rules depend on besides the files.
type platform struct {
	name       string // $PLATFORM
	multiarch  string // Debian's folder name below /lib
	cacheFlags int32  // of entries in the cache: glibc, sysdeps/generic/ldconfig.h
}

// platforms are the machines whose programs are followed.
var platforms = map[elf.Machine]platform{
	elf.EM_X86_64:  {"x86_64", "x86_64-linux-gnu", 0x0303},
	elf.EM_AARCH64: {"aarch64", "aarch64-linux-gnu", 0x0a03},
}

// maxLibraries bounds a closure; the largest real ones hold a few hundred.
const maxLibraries = 4096

// Resolve gives the DT_NEEDED closure of a program or shared library, in the
// order in which glibc's loader loads it, each library once. It follows
// ld.so(8): DT_RPATH of the needing file and of those that brought it in (where
// it has no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH of the needing file, the
// cache, the default folders; files of another class or machine are passed
// over. A library that no rule finds has an empty Path. A statically linked
// program has no dependencies.
//
// A shared library is followed as if it were loaded by itself: the DT_RPATH of
// a program that loads it is not known. LD_PRELOAD, LD_AUDIT and DT_AUXILIARY
// are not looked at; what a run really loaded is in its [Process].
//
// The error is for files that the loader would refuse: path itself, or a
// library found first that is no ELF file.
func Resolve(path string, env Environment) ([]Dependency, error) {
	root, err := openObject(path)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(filepath.Base(root.interpreter), "ld-musl") {
		return nil, fmt.Errorf("%s: built for musl's loader (%s): only glibc's rules are known", path, root.interpreter)
	}
	r := resolver{env: env, machine: root.machine, platform: platforms[root.machine]}
	if r.cache, err = readCache(env.Cache, r.platform.cacheFlags, env.HWCaps); err != nil {
		return nil, err
	}
	return r.closure(path, root)
}

// resolver holds the state of one closure.
type resolver struct {
	env      Environment
	machine  elf.Machine
	platform platform
	cache    *cache
	main     *loaded
	loaded   []*loaded
	// known are the names that stand for a loaded file, its DT_SONAME
	// included, and those that were not found: neither is looked up again
	// (_dl_map_object).
	known map[string]bool
}

// loaded is a file in the closure.
type loaded struct {
	object
	path   string  // symbolic links followed
	origin string  // $ORIGIN: folder of the path it was found by
	by     *loaded // file that brought it in, nil for the first
	info   fs.FileInfo
}

func (r *resolver) closure(path string, root object) ([]Dependency, error) {
	first, err := newLoaded(path, root, nil)
	if err != nil {
		return nil, err
	}
	if root.interpreter != "" {
		// The kernel starts a program by its real path (_dl_get_origin).
		first.origin = filepath.Dir(first.path)
	}
	first.path = path
	r.main, r.loaded = first, []*loaded{first}
	r.known = map[string]bool{first.soname: true}
	var deps []Dependency
	for i := 0; i < len(r.loaded); i++ {
		user := r.loaded[i]
		for _, name := range user.needed {
			if r.known[name] {
				continue
			}
			r.known[name] = true
			dep, again, err := r.dependency(name, user)
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
			if deps = append(deps, dep); len(deps) > maxLibraries {
				return nil, fmt.Errorf("%s: needs more than %d libraries", path, maxLibraries)
			}
		}
	}
	return deps, nil
}

// dependency looks up one name and loads what it finds; again says that the
// file was loaded before, by another name.
func (r *resolver) dependency(name string, user *loaded) (dep Dependency, again bool, err error) {
	dep = Dependency{Name: name, NeededBy: user.path}
	lib, how, err := r.find(name, user)
	if err != nil || lib == nil {
		return dep, false, err
	}
	for _, l := range r.loaded {
		if os.SameFile(l.info, lib.info) {
			return dep, true, nil
		}
	}
	r.loaded = append(r.loaded, lib)
	r.known[lib.soname] = true
	dep.Path, dep.How = lib.path, how
	return dep, false, nil
}

// find looks a name up as the loader does; nil means not found.
func (r *resolver) find(name string, user *loaded) (*loaded, string, error) {
	if filepath.Base(r.main.interpreter) == name {
		// The loader itself is in memory before anything is looked up.
		lib, err := r.open(r.main.interpreter, user)
		return lib, "absolute", err
	}
	if strings.Contains(name, "/") {
		lib, err := r.open(r.expand(name, user), user)
		return lib, "absolute", err
	}
	for _, rule := range r.rules(user) {
		for _, folder := range rule.folders {
			lib, err := r.inFolder(folder, name, user)
			if lib != nil || err != nil {
				return lib, rule.how, err
			}
		}
	}
	if lib, err := r.cached(name, user); lib != nil || err != nil {
		return lib, "ld.so.cache", err
	}
	if user.noDefault {
		return nil, "", nil
	}
	for _, folder := range r.defaultFolders() {
		if lib, err := r.inFolder(folder, name, user); lib != nil || err != nil {
			return lib, "default path", err
		}
	}
	return nil, "", nil
}

// rule is one list of folders, dynamic string tokens expanded.
type rule struct {
	how     string
	folders []string
}

// rules gives the lists of folders that come before the cache.
func (r *resolver) rules(user *loaded) []rule {
	var rules []rule
	if !user.hasRunpath {
		for l := user; l != nil; l = l.by {
			rules = append(rules, rule{"RPATH", r.expandAll(l.rpath, l)})
		}
	}
	return append(rules,
		rule{"LD_LIBRARY_PATH", r.expandAll(r.env.LibraryPath, r.main)},
		rule{"RUNPATH", r.expandAll(user.runpath, user)})
}

func (r *resolver) cached(name string, user *loaded) (*loaded, error) {
	path, err := r.cache.lookup(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; run ldconfig", r.env.Cache, err)
	}
	if path == "" || user.noDefault && r.isDefault(path) {
		return nil, nil
	}
	return r.open(path, user)
}

// defaultFolders are those built into the loader; /lib and /usr/lib hold 32-bit
// libraries on distributions other than Debian's, which are passed over.
func (r *resolver) defaultFolders() []string {
	lib := r.lib()
	return []string{"/" + lib, "/usr/" + lib, "/lib", "/usr/lib"}
}

func (r *resolver) isDefault(path string) bool {
	for _, folder := range r.defaultFolders() {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// inFolder looks into the subfolders of glibc-hwcaps, then into the folder
// (glibc 2.33 and newer).
func (r *resolver) inFolder(folder, name string, user *loaded) (*loaded, error) {
	if folder == "" {
		folder = "."
	}
	if r.machine == elf.EM_X86_64 {
		for _, sub := range r.env.HWCaps {
			if lib, err := r.open(filepath.Join(folder, "glibc-hwcaps", sub, name), user); lib != nil || err != nil {
				return lib, err
			}
		}
	}
	return r.open(filepath.Join(folder, name), user)
}

// open reads a candidate. One that cannot be opened or is of another class or
// machine is passed over; one that is no ELF file stops the loader.
func (r *resolver) open(path string, user *loaded) (*loaded, error) {
	if !filepath.IsAbs(path) && r.env.Dir != "" {
		path = filepath.Join(r.env.Dir, path)
	}
	o, err := openObject(path)
	var unopened *fs.PathError
	switch {
	case errors.As(err, &unopened), errors.Is(err, errOtherABI):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("needed by %s: %w", user.path, err)
	case o.machine != r.machine:
		return nil, nil
	}
	return newLoaded(path, o, user)
}

func newLoaded(path string, o object, by *loaded) (*loaded, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	return &loaded{object: o, path: real, origin: filepath.Dir(abs), by: by, info: info}, nil
}

// token is a dynamic string token (ld.so(8), "Dynamic string tokens").
var token = regexp.MustCompile(`\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)`)

// expand replaces the dynamic string tokens in a path of a file.
func (r *resolver) expand(path string, of *loaded) string {
	return token.ReplaceAllStringFunc(path, func(t string) string {
		switch strings.Trim(t, "${}") {
		case "ORIGIN":
			return of.origin
		case "LIB":
			return r.lib()
		default:
			return r.platform.name
		}
	})
}

// lib is $LIB: lib/x86_64-linux-gnu for Debian's loader, lib64 for others.
func (r *resolver) lib() string {
	if _, err := os.Stat("/lib/" + r.platform.multiarch); err == nil {
		return "lib/" + r.platform.multiarch
	}
	return "lib64"
}

func (r *resolver) expandAll(paths []string, of *loaded) []string {
	expanded := make([]string, len(paths))
	for i, p := range paths {
		expanded[i] = r.expand(p, of)
	}
	return expanded
}
