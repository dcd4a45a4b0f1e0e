package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

const (
	gitTimeout = 2 * time.Minute
	gitOutput  = 64 << 20 // bytes
)

// repositoryVariables is `git rev-parse --local-env-vars` of git 2.39, but for
// those that hold configuration. Git sets some for its hooks; a hook that
// verifies must not make every folder look like the hook's own repository.
var repositoryVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// git runs git in dir, without locks, prompts, pagers and file system monitors,
// and gives its standard output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	stdout := tool.NewBuffer(gitOutput)
	result := tool.Run(ctx, tool.Command{
		Args:    append([]string{"git", "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false"}, args...),
		Dir:     dir,
		Env:     environment(os.Environ()),
		Timeout: gitTimeout,
		Stdout:  stdout,
	})
	switch {
	case result.Problem != "":
		return "", fmt.Errorf("git: %s", result.Problem)
	case result.Exit != 0 && result.Output != "":
		return "", errors.New(strings.TrimSpace(result.Output))
	case result.Exit != 0:
		return "", fmt.Errorf("git %s: %s", args[0], result.Failure())
	case stdout.Dropped() > 0:
		return "", fmt.Errorf("git %s: more than %d bytes of output", args[0], gitOutput)
	}
	return stdout.String(), nil
}

func environment(caller []string) []string {
	env := slices.DeleteFunc(slices.Clone(caller), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(repositoryVariables, name)
	})
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}
