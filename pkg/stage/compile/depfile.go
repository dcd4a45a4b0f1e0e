package compile

import (
	"errors"
	"strings"
)

// parseDeps reads the rule that `nvcc -MD` writes and gives the files that the
// compilation read, the source first, as nvcc names them:
//
//	a.o : a.cu \
//	    /usr/include/stdc-predef.h \
//	    inc/a\ b.h
//
// nvcc 11.8 and 13.0 escape spaces in the names after the colon, leave # and $
// alone, and do not escape the target at all.
func parseDeps(text string) ([]string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	_, text, ok := strings.Cut(text, " : ")
	if !ok {
		return nil, errors.New("no \" : \" after the target")
	}
	var files []string
	var name strings.Builder
	end := func() {
		if name.Len() > 0 {
			files = append(files, name.String())
			name.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == ' ':
			name.WriteByte(' ')
			i++
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			end()
			i++
		case c == '\n' && strings.TrimSpace(text[i:]) != "":
			return nil, errors.New("a second rule")
		case c == ' ' || c == '\t' || c == '\n':
			end()
		default:
			name.WriteByte(c)
		}
	}
	end()
	if len(files) == 0 {
		return nil, errors.New("no file after the target")
	}
	return files, nil
}
