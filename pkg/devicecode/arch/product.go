package arch

import (
	"maps"
	"slices"
)

// products are devices by capability (NVIDIA, "CUDA GPUs" and "Legacy CUDA
// GPUs"; 10.7 from the CUDA Programming Guide 13.4). They are examples: none of
// the lists is complete.
var products = map[Capability]string{
	{5, 0}:  "GTX 750, Tesla M10",
	{5, 2}:  "GTX 9x0, Tesla M40, M60",
	{5, 3}:  "Jetson TX1, Jetson Nano",
	{6, 0}:  "P100",
	{6, 1}:  "GTX 10x0, P4, P40",
	{6, 2}:  "Jetson TX2",
	{7, 0}:  "V100",
	{7, 2}:  "Jetson Xavier",
	{7, 5}:  "T4, RTX 20x0, GTX 16x0",
	{8, 0}:  "A100, A30",
	{8, 6}:  "A2, A10, A16, A40, RTX 30x0",
	{8, 7}:  "Jetson Orin",
	{8, 9}:  "L4, L40, RTX 40x0",
	{9, 0}:  "H100, H200, GH200",
	{10, 0}: "B200, GB200",
	{10, 1}: "Thor, as CUDA 12.8 and 12.9 name it",
	{10, 3}: "B300, GB300",
	{10, 7}: "Rubin",
	{11, 0}: "Jetson Thor (T5000, T4000)",
	{12, 0}: "RTX 50x0, RTX PRO Blackwell",
	{12, 1}: "GB10 (DGX Spark)",
}

// Products names devices of a capability, empty where none is known.
func (c Capability) Products() string { return products[c] }

// Compare orders capabilities.
func (c Capability) Compare(o Capability) int {
	if c.Major != o.Major {
		return c.Major - o.Major
	}
	return c.Minor - o.Minor
}

// Known gives the capabilities with a listed product that a current toolkit may be
// asked about, oldest first. 10.1 is left out: it is 11.0 since CUDA 13.0.
func Known() []Capability {
	known := slices.SortedFunc(maps.Keys(products), Capability.Compare)
	return slices.DeleteFunc(known, func(c Capability) bool { return c == Capability{10, 1} })
}
