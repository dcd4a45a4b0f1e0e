//go:build mage

package main

import (
	// mage:import
	_ "github.com/cudaproof/cudaproof/magefiles/cuda"
)
