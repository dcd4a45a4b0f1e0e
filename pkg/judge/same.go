package judge

import (
	"bytes"
	"encoding/json"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// sameReading compares two readings of a file by their JSON, which is what the
// record keeps of them.
func sameReading(a, b record.Artifact) bool {
	x, errX := json.Marshal(a.File)
	y, errY := json.Marshal(b.File)
	return errX == nil && errY == nil && bytes.Equal(x, y) && a.Pattern == b.Pattern
}
