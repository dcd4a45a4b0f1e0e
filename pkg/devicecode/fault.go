package devicecode

import (
	"fmt"
	"runtime/debug"
)

// Unfaulted calls do on bytes that may be those of a mapped file. Where they
// cannot be had from the file any more, because it was cut off or its disk
// fails, that is an error and not the end of the program.
func Unfaulted(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // runtime.Error of a fault
			err = fmt.Errorf("the file could not be read to its end: was it changed meanwhile? (%v)", r)
		default:
			panic(r)
		}
	}()
	return do()
}
