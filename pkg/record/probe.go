package record

import "github.com/cudaproof/cudaproof/pkg/devicecode/arch"

// Probe is the machine as it was found.
type Probe struct {
	Host      Host       `json:"host"`
	NvidiaSMI ToolOutput `json:"nvidia_smi"` // without the process table
	Driver    Driver     `json:"driver"`
	Toolkit   Toolkit    `json:"toolkit"`
	// Devices are the visible devices, as the CUDA runtime gives them.
	Devices []Device `json:"devices"`
	// DeviceQuery is the run of the probe program that gave Devices.
	DeviceQuery ToolOutput `json:"device_query"`
	// Environment holds the variables that choose devices and libraries.
	Environment map[string]string `json:"environment,omitempty"`
}

// Capabilities are those of the devices, one for each.
func (p Probe) Capabilities() []arch.Capability {
	var list []arch.Capability
	for _, d := range p.Devices {
		list = append(list, d.Capability)
	}
	return list
}

// Host is the machine the verification ran on. It says nothing about GPU code.
type Host struct {
	Machine string `json:"machine"` // as `uname -m` says it
	OS      string `json:"os"`
}

// Driver is the installed driver.
type Driver struct {
	Version string `json:"version,omitempty"` // kernel driver, "580.159.04"
	// CUDA is the newest CUDA version that the driver library supports, by
	// cuDriverGetVersion: "13.0". It is not the toolkit's version.
	CUDA string `json:"cuda,omitempty"`
	// Library is the path of libcuda, as the CUDA runtime finds it.
	Library string `json:"library,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Toolkit is the CUDA compiler found.
type Toolkit struct {
	NVCC          string     `json:"nvcc,omitempty"`    // path
	Version       string     `json:"version,omitempty"` // "13.0"
	Release       string     `json:"release,omitempty"` // "13.0.88"
	VersionOutput ToolOutput `json:"version_output"`
	// GPUCode is what `nvcc --list-gpu-code` prints, in its order. nvcc leaves
	// the targets with suffix a and f out of it.
	GPUCode []string `json:"gpu_code,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// Device is one visible GPU.
type Device struct {
	Index      int             `json:"index"` // in the order of the CUDA runtime
	UUID       string          `json:"uuid"`  // "GPU-585e163f-...", of a MIG instance "MIG-..."
	Name       string          `json:"name"`
	Capability arch.Capability `json:"capability"`
	Integrated bool            `json:"integrated"`
}
