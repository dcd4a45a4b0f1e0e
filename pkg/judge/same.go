package judge

import (
	"bytes"
	"encoding/json"

	"github.com/cudaproof/cudaproof/pkg/artifact"
)

// sameObject compares two readings of an object by their JSON, which is what
// the record keeps of them.
func sameObject(a, b artifact.Object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
