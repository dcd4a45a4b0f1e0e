package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// answer is what the probe program prints (cuda_src/probe/probe.cu).
type answer struct {
	Library  string   `json:"library"`
	Driver   int      `json:"driver"`
	NoDriver bool     `json:"no_driver"`
	Devices  []device `json:"devices"`
	Failed   *failure `json:"failed"`
}

type device struct {
	Index      int    `json:"index"`
	UUID       string `json:"uuid"`
	Name       string `json:"name"`
	Major      int    `json:"major"`
	Minor      int    `json:"minor"`
	Integrated bool   `json:"integrated"`
}

type failure struct {
	Call  string `json:"call"`
	Error int    `json:"error"` // cudaError_t
	Name  string `json:"name"`
	Text  string `json:"text"`
}

var uuidForm = regexp.MustCompile(`^(GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// parseAnswer reads the program's standard output. An answer that it gives
// back is complete: with devices, or with the reason why there are none.
func parseAnswer(output []byte) (answer, error) {
	var a answer
	d := json.NewDecoder(bytes.NewReader(output))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return answer{}, fmt.Errorf("not the JSON expected: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return answer{}, errors.New("more than one JSON object")
	}
	if err := a.check(); err != nil {
		return answer{}, err
	}
	return a, nil
}

func (a answer) check() error {
	switch {
	case a.Failed != nil || a.NoDriver:
		if len(a.Devices) > 0 {
			return errors.New("devices beside a failure")
		}
		return nil
	case a.Driver < 1000 || a.Devices == nil:
		return errors.New("neither devices nor a failure")
	}
	for i, d := range a.Devices {
		if d.Index != i || d.Name == "" || !uuidForm.MatchString(d.UUID) || d.Major < 1 || d.Minor < 0 || d.Minor > 9 {
			return fmt.Errorf("device %d is not credible: %+v", i, d)
		}
		if slices.ContainsFunc(a.Devices[:i], func(before device) bool { return before.UUID == d.UUID }) {
			return fmt.Errorf("two devices have the UUID %s", d.UUID)
		}
	}
	return nil
}

// list gives the devices for the record, never nil.
func (a answer) list() []record.Device {
	list := []record.Device{}
	for _, d := range a.Devices {
		list = append(list, record.Device{
			Index: d.Index, UUID: d.UUID, Name: d.Name, Integrated: d.Integrated,
			Capability: arch.Capability{Major: d.Major, Minor: d.Minor},
		})
	}
	return list
}

// problem says why there is no device and what to do; empty when there is one.
func (a answer) problem() string {
	switch {
	case a.NoDriver:
		return "no CUDA driver: libcuda was not found or has no version; " +
			"install the NVIDIA driver, or start the container with the GPU passed in"
	case a.Failed != nil:
		f := a.Failed
		return fmt.Sprintf("%s: error %d (%s): %s; %s", f.Call, f.Error, f.Name, f.Text, a.advice())
	case len(a.Devices) == 0:
		return "no visible device; " + advice[100]
	}
	return ""
}

// advice says what to do about a cudaError_t (CUDA Runtime API, "Data types
// used by CUDA Runtime", cudaError).
var advice = map[int]string{
	2:   "the device's memory is full: end other programs that use it",
	35:  "the driver is older than this toolkit's runtime: update the driver, or name an older toolkit in the manifest",
	46:  "the devices are in use or in prohibited compute mode: see nvidia-smi -q -d COMPUTE",
	100: "check CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES, and that the GPU is passed into the container",
	101: "check CUDA_VISIBLE_DEVICES",
	802: "the system is not ready: on NVSwitch machines start the fabric manager",
	803: "libcuda and the kernel driver do not fit together: take the forward-compatibility or stub libcuda out of LD_LIBRARY_PATH and ld.so.conf, or restart after the driver update",
	804: "the forward-compatibility libcuda does not support this device: take it out of LD_LIBRARY_PATH and ld.so.conf",
	805: "the MPS control daemon was not reached: start it, or unset CUDA_MPS_PIPE_DIRECTORY",
}

const lookAtDriver = "look whether the driver works (nvidia-smi, dmesg)"

func (a answer) advice() string {
	text, ok := advice[a.Failed.Error]
	if !ok {
		text = lookAtDriver
	}
	if a.Library != "" {
		text += "; libcuda is " + tool.MaskHome(a.Library)
	}
	return text
}
