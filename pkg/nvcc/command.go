// Package nvcc reads what a command line of nvcc asks for.
package nvcc

import (
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Command is what one call of nvcc is asked for. Which options mean what was seen
// with nvcc 11.8 (--help, --dryrun).
type Command struct {
	// Pairs are the images asked for by name, each from its virtual architecture,
	// in the order of the command line.
	Pairs []Pair
	// Words are targets that nvcc itself works out: native, all, all-major.
	Words []string
	// Unread says what of the command line was not understood, so that more may
	// be asked for; it is empty where all was.
	Unread string
	// Sources are the inputs that are compiled for the device.
	Sources []string
	Output  string // of -o, empty for none
	// Links says that a program or a library is linked, which includes the device
	// link of relocatable code.
	Links bool
	// DeviceLinks says that the device link is the whole purpose (-dlink).
	DeviceLinks bool
	// LTO says that machine code is made at the device link (-dlto).
	LTO bool
}

// Pair is an image and what it is compiled from.
type Pair struct {
	From   arch.Target // compute_90
	Target arch.Target // sm_90, compute_90, lto_90
}

// Parse reads an argument vector, and what the variables NVCC_PREPEND_FLAGS and
// NVCC_APPEND_FLAGS put before and after its options. It reports false for what is
// no call of nvcc: the first argument decides, by its base name.
func Parse(args []string, environment map[string]string) (Command, bool) {
	if len(args) == 0 || path.Base(args[0]) != "nvcc" {
		return Command{}, false
	}
	p := parser{rest: slices.Concat(strings.Fields(environment["NVCC_PREPEND_FLAGS"]), args[1:], strings.Fields(environment["NVCC_APPEND_FLAGS"]))}
	p.c.Links = true
	for len(p.rest) > 0 {
		p.argument()
	}
	p.shorthand()
	return p.c, true
}

// Targets are the images asked for by name, sorted, each once.
func (c Command) Targets() []arch.Target {
	var list []arch.Target
	for _, p := range c.Pairs {
		list = append(list, p.Target)
	}
	slices.SortFunc(list, arch.Compare)
	return slices.Compact(list)
}

// NamesNone reports whether no target reaches nvcc, which then takes its default.
func (c Command) NamesNone() bool { return len(c.Pairs)+len(c.Words) == 0 && c.Unread == "" }

// parser reads one command line.
type parser struct {
	rest     []string
	c        Command
	arch     string   // of -arch, where the last counts
	code     []string // of -code, where all count
	language string   // of -x
}

func (p *parser) argument() {
	arg := p.rest[0]
	p.rest = p.rest[1:]
	switch {
	case strings.HasPrefix(arg, "@"):
		p.c.Unread = arg
	case !strings.HasPrefix(arg, "-") || arg == "-":
		if p.language == "cu" || p.language == "" && path.Ext(arg) == ".cu" {
			p.c.Sources = append(p.c.Sources, arg)
		}
	default:
		name, value, joined := strings.Cut(arg, "=")
		p.option(name, func() string {
			if !joined && len(p.rest) > 0 {
				value, p.rest = p.rest[0], p.rest[1:]
			}
			return value
		})
	}
}

// option reads one option; value gives its value, from the next argument where
// none is joined to it.
func (p *parser) option(name string, value func() string) {
	switch name {
	case "-gencode", "--generate-code":
		p.gencode(value())
	case "-arch", "--gpu-architecture":
		p.arch = value()
	case "-code", "--gpu-code":
		p.code = append(p.code, strings.Split(value(), ",")...)
	case "-o", "--output-file":
		p.c.Output = value()
	case "-x", "--x":
		p.language = value()
	case "-optf", "--options-file":
		p.c.Unread = name + " " + value()
	case "-dlto", "--dlink-time-opt", "-lto":
		p.c.LTO = true
	case "-dlink", "--device-link":
		p.c.Links, p.c.DeviceLinks = false, true
	default:
		switch {
		case slices.Contains(withoutLink, name):
			p.c.Links = false
		case slices.Contains(withValue, name):
			value()
		}
	}
}

// gencode reads "arch=compute_90,code=[sm_90,compute_90]"; the list may stand in
// quotes in place of the brackets, and code before arch.
func (p *parser) gencode(value string) {
	plain := strings.NewReplacer("[", "", "]", "", `"`, "", `\`, "", "'", "").Replace(value)
	from, code, key := "", []string(nil), ""
	for _, word := range strings.Split(plain, ",") {
		if k, v, ok := strings.Cut(word, "="); ok {
			key, word = k, v
		}
		switch key {
		case "arch":
			from = word
		case "code":
			code = append(code, word)
		}
	}
	p.pairs("-gencode "+value, from, code)
}

// shorthand turns -arch and -code into images: without -code, -arch=sm_90 is
// machine code and its PTX.
func (p *parser) shorthand() {
	option := "-arch=" + p.arch
	switch t, err := arch.ParseTarget(p.arch); {
	case p.arch == "" && len(p.code) == 0:
	case slices.Contains([]string{"native", "all", "all-major"}, p.arch):
		p.c.Words = append(p.c.Words, p.arch)
	case err != nil:
		p.c.Unread = option
	case len(p.code) > 0:
		p.pairs(option+" -code="+strings.Join(p.code, ","), p.arch, p.code)
	case t.Class == arch.SM:
		p.pairs(option, t.As(arch.Compute).String(), []string{t.String(), t.As(arch.Compute).String()})
	default:
		p.pairs(option, t.As(arch.Compute).String(), []string{t.String()})
	}
}

func (p *parser) pairs(option, from string, code []string) {
	virtual, err := arch.ParseTarget(from)
	if err != nil || len(code) == 0 {
		p.c.Unread = option
		return
	}
	for _, word := range code {
		t, err := arch.ParseTarget(word)
		if err != nil {
			p.c.Unread = option
			continue
		}
		p.c.Pairs = append(p.c.Pairs, Pair{virtual, t})
	}
}

// withoutLink are the options that end before the link.
var withoutLink = strings.Fields("-c --compile -dc --device-c -dw --device-w -lib --lib -cubin --cubin -fatbin --fatbin -ptx --ptx " +
	"-optix-ir --optix-ir -ltoir --ltoir -cuda --cuda -E --preprocess -M --generate-dependencies -MM --generate-nonsystem-dependencies " +
	"-dryrun --dryrun -clean --clean-targets -h --help -V --version")

// withValue are the options whose value may be the next argument, which then is no
// input.
var withValue = strings.Fields("-include --pre-include -l --library -D --define-macro -U --undefine-macro -I --include-path " +
	"-isystem --system-include -L --library-path -odir --output-directory -ccbin --compiler-bindir -arbin --archiver-binary " +
	"-ldir --libdevice-directory -target-dir --target-directory -opt-info --optimization-info -O --optimize -dopt --dopt " +
	"-ftemplate-backtrace-limit --ftemplate-backtrace-limit -ftemplate-depth --ftemplate-depth -Xcompiler --compiler-options " +
	"-Xlinker --linker-options -Xarchive --archive-options -Xptxas --ptxas-options -Xnvlink --nvlink-options -Xfatbin --fatbin-options " +
	"-Xcudafe --cudafe-options -t --threads -keep-dir --keep-dir -time --time -run-args --run-args -idp --input-drive-prefix " +
	"-ddp --dependency-drive-prefix -dp --drive-prefix -MT --dependency-target-name -MF --dependency-output -e --entries " +
	"-maxrregcount --maxrregcount -diag-error --diag-error -diag-suppress --diag-suppress -diag-warn --diag-warn " +
	"-std --std -cudart --cudart -cudadevrt --cudadevrt -default-stream --default-stream -rdc --relocatable-device-code -m --machine " +
	"-compress-mode --compress-mode")
