//go:build mage

// The targets alone, for `mage -compile`: a static binary for repositories and
// GPU machines without Go.
package main

import (
	// mage:import
	_ "github.com/cudaproof/cudaproof/magefiles/cuda"
)
