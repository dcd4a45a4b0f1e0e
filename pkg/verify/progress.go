package verify

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/cudaproof/cudaproof/pkg/report"
	"github.com/cudaproof/cudaproof/pkg/stage"
)

// slow is how long a stage must take before its progress is shown.
const slow = time.Second

// progress shows long work: a bar on a terminal, plain lines elsewhere.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	bar   *progressbar.ProgressBar // nil while none is shown
	stage string
	began time.Time
}

// observer makes the observer of a target, and a function that clears the bar.
func observer(w io.Writer) (stage.Observer, func()) {
	p := &progress{w: w}
	return p.tell, p.clear
}

func (p *progress) tell(e stage.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.What = report.Plain(e.What)
	if e.Stage != p.stage {
		p.finish()
		p.stage, p.began = e.Stage, time.Now()
	}
	switch {
	case time.Since(p.began) < slow:
	case terminal(p.w):
		p.draw(e)
	case e.Underway:
	case e.Total > 0:
		logger(p.w).Infof("%s %d/%d: %s", e.Stage, e.Done, e.Total, e.What)
	default:
		logger(p.w).Infof("%s: %s", e.Stage, e.What)
	}
}

func (p *progress) draw(e stage.Event) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(p.w), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	}
	p.bar.Describe(fmt.Sprintf("%s %s", e.Stage, e.What))
	if e.Total > 0 {
		p.bar.ChangeMax(e.Total)
		_ = p.bar.Set(e.Done) // only the terminal could fail
	}
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear() // only the terminal could fail
		p.bar = nil
	}
	p.stage = ""
}
