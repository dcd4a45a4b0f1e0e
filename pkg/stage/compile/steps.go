package compile

import (
	"sync"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/stage"
)

// steps tells the observer about compilations, links and external commands.
type steps struct {
	mu          sync.Mutex
	observer    stage.Observer
	done, total int
}

func newSteps(m *manifest.Manifest, o stage.Observer) *steps {
	s := &steps{observer: o}
	for _, b := range m.Build {
		s.total += len(b.Sources) + 1
	}
	return s
}

func (s *steps) begin(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observer.Tell(stage.Event{Stage: "compile", What: what, Done: s.done, Total: s.total})
}

func (s *steps) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
}
