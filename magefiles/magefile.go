//go:build mage

// This repository's own targets. Those of magefiles/cuda come with them.
package main

import (
	// mage:import
	_ "github.com/cudaproof/cudaproof/magefiles/cuda"
)
