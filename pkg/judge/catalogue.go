package judge

import "maps"

// Kind is what is fixed for a finding's ID.
type Kind struct {
	Severity Severity
	Effect   Verdict
	Title    string
}

// Catalogue gives the kind of every finding by its ID. docs/findings.md
// documents each of them; a test compares the two.
func Catalogue() map[string]Kind { return maps.Clone(catalogue) }

// Title gives the title of a finding.
func (f Finding) Title() string { return catalogue[f.ID].Title }

// Part is a part of the work that findings are about.
type Part byte

// The parts, by the first digit of an ID.
const (
	FilesPart   Part = '1'
	RunsPart    Part = '2'
	MachinePart Part = '3'
	GatePart    Part = '4'
)

// Part tells the part that a finding is about.
func (f Finding) Part() Part { return Part(f.ID[2]) }

func fails(title string) Kind      { return Kind{Error, Failed, title} }
func unverified(title string) Kind { return Kind{Error, NotVerified, title} }
func warns(title string) Kind      { return Kind{Warning, "", title} }
func notes(title string) Kind      { return Kind{Note, "", title} }

var catalogue = map[string]Kind{
	"CP101": fails("Artifact missing"),
	"CP102": fails("Device code unreadable"),
	"CP103": fails("No device code"),
	"CP104": fails("Native image missing"),
	"CP105": fails("PTX missing"),
	"CP106": fails("Kernel missing from an image"),
	"CP107": fails("Device link lost the targets"),
	"CP108": fails("Device not covered"),
	"CP109": unverified("Coverage not guaranteed"),
	"CP110": fails("Required kernel not found"),
	"CP111": fails("Host architecture differs"),
	"CP112": warns("Kernels only by JIT"),
	"CP113": unverified("Artifact not built here"),
	"CP114": notes("Devices present not looked for"),
	"CP115": notes("Device runtime left aside"),
	"CP116": warns("Image present, body traps"),
	"CP117": fails("Required kernel only traps"),
	"CP118": fails("Newer driver needed"),
	"CP119": notes("Kernels excused"),
	"CP120": fails("cuobjdump disagrees"),
	"CP121": notes("Cross-check not done"),
	"CP122": fails("PTX does not assemble"),
	"CP123": fails("Waiver excuses nothing"),
	"CP124": notes("PTX not assembled"),
	"CP130": fails("Shared library not found"),
	"CP131": fails("Undeclared library with device code"),
	"CP132": unverified("Library unreadable"),
	"CP133": notes("Third-party library excused"),
	"CP134": unverified("Dependencies not resolved"),
	"CP135": notes("Kernels in two files of one process"),
	"CP136": fails("Shipped library cannot serve a device"),
	"CP137": warns("Library cannot serve a device"),

	"CP201": fails("Native run fails, PTX run passes"),
	"CP202": fails("PTX run fails, native run passes"),
	"CP203": fails("Native and PTX runs fail"),
	"CP204": fails("Run fails"),
	"CP205": fails("Silent JIT as shipped"),
	"CP206": unverified("Run not attributable"),
	"CP207": unverified("PTX run did not use the JIT compiler"),
	"CP208": unverified("Native run used the driver's linker or compiler"),
	"CP209": fails("Driver refused device code"),
	"CP210": unverified("Environment not fit to run"),
	"CP211": fails("Modes disagree"),
	"CP212": fails("Artifact changed during the runs"),
	"CP213": unverified("Entry point not run"),
	"CP214": unverified("Artifact not loaded by any run"),
	"CP215": warns("Processes left running"),
	"CP216": notes("Mode left out"),
	"CP217": notes("Output capped"),
	"CP218": warns("Device code of a library refused"),
	"CP219": unverified("PTX path blocked by a library"),
	"CP220": warns("PTX of a library compiled as shipped"),
	"CP221": notes("No trace"),
	"CP222": unverified("Mode's variables changed"),
	"CP223": fails("Native run executed other code"),
	"CP224": notes("Native, weaker proof"),
	"CP225": unverified("PTX run executed shipped machine code"),
	"CP226": unverified("No kernel launched"),
	"CP227": notes("Kernels never launched"),
	"CP228": fails("Required kernel not launched"),
	"CP229": unverified("Launch of a required kernel not seen"),
	"CP230": warns("Code made at run time"),
	"CP231": fails("Second start fails"),
	"CP232": unverified("Native run executed unknown code"),
	"CP233": unverified("Run did not use its devices"),
	"CP234": fails("Entry point without a GPU launched kernels"),
	"CP235": fails("Too few kernels launched"),
	"CP236": unverified("Number of kernels launched not known"),
	"CP237": warns("Images of no file loaded"),
	"CP238": unverified("Prediction contradicted by a run"),

	"CP301": unverified("No CUDA toolkit"),
	"CP302": fails("Target not known to the toolkit"),
	"CP303": fails("Build failed"),
	"CP304": unverified("Build not done"),
	"CP305": warns("Environment changes nvcc"),
	"CP306": warns("Compile commands unknown"),
	"CP307": unverified("No device"),
	"CP308": fails("Target asked for is not in the file"),
	"CP309": notes("Target in the file was not asked for"),
	"CP310": warns("No target named"),
	"CP311": warns("Targets of the building machine"),
	"CP312": warns("Suffix lost in the virtual architecture"),
	"CP313": fails("Environment changes the targets"),

	"CP401": unverified("No usable evidence"),
	"CP402": fails("Artifact differs from the evidence"),
	"CP403": fails("Build input differs from the evidence"),
	"CP404": fails("Manifest differs from the evidence"),
	"CP405": fails("Artifacts differ from the evidence"),
	"CP406": fails("Evidence files differ from the record"),
	"CP407": fails("Inspection differs from the evidence"),
	"CP409": fails("Record does not fit the manifest"),
	"CP408": warns("Source not identified"),
}
