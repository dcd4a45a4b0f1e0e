package verify

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// untilMageEnds cancels the context when the mage that started us is gone. A
// signal to mage alone kills it without a word to the targets, which it runs in
// a process of their own: they would go on unseen. Another parent, such as a
// shell, may end as it likes.
func untilMageEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil || strings.TrimSpace(string(name)) != "mage" {
		return ctx, cancel
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
				if os.Getppid() != parent {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}
