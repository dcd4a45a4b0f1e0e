// Package probe finds out what the machine is: host, driver, CUDA toolkit and
// visible devices. It never fails: what could not be found out is said in the
// record, with what to do about it.
package probe

import (
	"context"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// Options say where to look.
type Options struct {
	// NVCC is the manifest's nvcc: an absolute path, a name in PATH, or empty,
	// see [FindNVCC].
	NVCC     string
	Observer stage.Observer
}

// limits are how long a tool may take.
type limits struct{ smi, nvcc, build, program time.Duration }

var usual = limits{
	smi:     20 * time.Second,
	nvcc:    60 * time.Second, // a toolkit on a network drive, not yet cached
	build:   5 * time.Minute,
	program: 60 * time.Second,
}

// Run probes the machine.
func Run(ctx context.Context, o Options) record.Probe { return run(ctx, o, usual) }

func run(ctx context.Context, o Options, l limits) record.Probe {
	done := 0
	step := func(what string) {
		o.Observer.Tell(stage.Event{Stage: "probe", What: what, Done: done, Total: 3})
		done++
	}

	p := record.Probe{Host: host(), Environment: tool.Variables(variables)}
	step("driver")
	p.NvidiaSMI = nvidiaSMI(ctx, l.smi)
	p.Driver = driver(ctx, l.smi, p.NvidiaSMI)
	step("toolkit")
	p.Toolkit = toolkit(ctx, o, l.nvcc)
	step("devices")
	var answer answer
	p.DeviceQuery, answer = queryDevices(ctx, p.Toolkit, l)
	p.Devices = answer.list()
	setCUDA(&p.Driver, answer)
	return p
}
