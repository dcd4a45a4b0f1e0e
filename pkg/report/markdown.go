package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// maxMarkdown is how many bytes a summary may have: GitHub drops one of more than
// 1 MiB a step, and shows nothing then.
const maxMarkdown = 1_000_000

// maxShown is how many findings a summary spells out.
const maxShown = 50

// Markdown writes a summary for GitHub's job page ($GITHUB_STEP_SUMMARY) and for
// comments: the verdict, the kinds of evidence, the findings that decide it, and
// what the required devices take.
func Markdown(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	marks := map[judge.Verdict]string{judge.Passed: "✅", judge.Failed: "❌", judge.NotVerified: "❓"}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", marks[result.Verdict], md(Sentence(r, result, o.Part)))
	if o.Part == "" {
		b.WriteString("| evidence | |\n|---|---|\n")
		for _, row := range evidence(r, result.Findings) {
			fmt.Fprintf(&b, "| %s | %s |\n", row[0], md(row[1]))
		}
		b.WriteString("\n")
	}
	markdownFindings(&b, result.Findings)
	if o.Matrix != nil && len(o.Matrix.Rows) > 0 {
		markdownMatrix(&b, o.Matrix)
	}
	for _, a := range r.Artifacts {
		fmt.Fprintf(&b, "`%s` %s\n", a.SHA256, md(a.Path))
	}
	text := b.String()
	if len(text) > maxMarkdown {
		const cut = "\n\n(cut off: the whole is in the other reports)\n"
		text = strings.ToValidUTF8(text[:maxMarkdown-len(cut)], "") + cut
	}
	_, err := io.WriteString(w, text)
	return err
}

func markdownFindings(b *strings.Builder, list []judge.Finding) {
	shown := 0
	others := map[judge.Severity]int{}
	for _, f := range fold(list) {
		if f.Effect == "" || shown == maxShown {
			others[f.Severity]++
			continue
		}
		shown++
		fmt.Fprintf(b, "<details%s><summary><b>%s</b> %s</summary>\n\n", map[bool]string{true: " open"}[shown <= 3], f.ID, md(f.Title()+": "+where(f)))
		fmt.Fprintf(b, "%s\n\n", mdLines(f.Fact))
		if f.Cause != "" {
			fmt.Fprintf(b, "Cause: %s\n\n", mdLines(f.Cause))
		}
		if f.Action != "" {
			fmt.Fprintf(b, "**Do:** %s\n\n", mdLines(f.Action))
		}
		fmt.Fprintf(b, "[%s](%s%s)\n</details>\n\n", f.ID, findingsPage, anchor(kindName(f)))
	}
	var rest []string
	for _, kind := range []struct {
		severity  judge.Severity
		one, many string
	}{{judge.Error, "error", "errors"}, {judge.Warning, "warning", "warnings"}, {judge.Note, "note", "notes"}} {
		if n := others[kind.severity]; n > 0 {
			rest = append(rest, count(n, kind.one, kind.many))
		}
	}
	if len(rest) > 0 {
		fmt.Fprintf(b, "Not shown here: %s.\n\n", strings.Join(rest, ", "))
	}
}

func markdownMatrix(b *strings.Builder, m *coverage.Matrix) {
	b.WriteString("| device | products | kernels, by the rules of CUDA |\n|---|---|---|\n")
	for _, s := range m.Summary {
		fmt.Fprintf(b, "| %s | %s | %s |\n", s.Device, md(s.Products), md(summary(s)))
	}
	b.WriteString("\n")
}

// md makes untrusted text inert in Markdown: no markup, no HTML, no mention, no
// table cell of its own, one line.
func md(s string) string {
	return markup.Replace(escapeHTML(oneLine(s)))
}

// escapeHTML escapes what HTML reads, and # before it: the entities have one.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "#", "&num;\u2060").Replace(s)
}

// mdLines keeps the line breaks of text.
func mdLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = md(line)
	}
	return strings.Join(lines, "<br>\n")
}

// markup replaces what Markdown reads; a word joiner breaks what GitHub would link,
// such as @name and #1.
var markup = strings.NewReplacer("\\", "&#92;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "|", "&#124;", "~", "&#126;",
	"@", "&#64;\u2060", "://", ":\u2060//", "$", "&#36;", "!", "&#33;")
