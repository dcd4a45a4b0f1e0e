// Package stage holds what the stages have in common. Each stage, in a package
// of its own below this one, does one kind of work and fills one part of the
// record.
package stage

// Event is one step of long work.
type Event struct {
	Stage string // "compile"
	What  string // "saxpy.cu"
	Done  int    // steps finished, of Total; Total 0 when it is not known
	Total int
	// Underway says that the step goes on: something for a screen, not for a log.
	Underway bool
}

// Observer is told of progress; a nil Observer is told nothing. It may be
// called from several goroutines at once.
type Observer func(Event)

// Tell passes an event on.
func (o Observer) Tell(e Event) {
	if o != nil {
		o(e)
	}
}
