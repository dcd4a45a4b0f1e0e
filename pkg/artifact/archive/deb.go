package archive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
)

// deb reads the two tars of a Debian package (deb(5)).
func (w *Walker) deb(b []byte) error {
	members, err := ar.Members(bytes.NewReader(b), int64(len(b)))
	data := false
	for _, m := range members {
		switch {
		case m.Name == debFirst:
		case strings.HasPrefix(m.Name, "control.tar"), strings.HasPrefix(m.Name, "data.tar"):
			data = data || strings.HasPrefix(m.Name, "data.tar")
			if err := w.carried(bytes.NewReader(b[m.Offset:m.Offset+m.Size]), m.Name); over(err) {
				return err
			} else if err != nil {
				w.problem(m.Name, err)
			}
		default:
			w.Others++
		}
	}
	if err == nil && !data {
		err = errors.New("no data.tar in it")
	}
	if err != nil {
		return fmt.Errorf("damaged Debian package: %w", err)
	}
	return nil
}
