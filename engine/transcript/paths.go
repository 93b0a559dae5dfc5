package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathsInText calls fn for each thing in prose or in a shell command that is
// quite surely a file path: absolute under a usual root or with a file
// extension, under ~, or relative with a slash and an extension. URLs, routes,
// slash commands, fractions and "and/or" are left alone; so are names with
// blanks, which prose cannot delimit. A path may be reported more than once.
func PathsInText(s string, fn func(string)) {
	for at := 0; at < len(s); {
		n := strings.IndexByte(s[at:], '/')
		if n < 0 {
			return
		}
		slash := at + n
		start := slash
		for start > at {
			r, size := utf8.DecodeLastRuneInString(s[at:start])
			if !pathRune(r) {
				break
			}
			start -= size
		}
		end := slash
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !pathRune(r) {
				break
			}
			end += size
		}
		if !insideURL(s, start) && !remoteName(s, start) {
			if p := cleanPath(s[start:end]); p != "" {
				fn(p)
			}
		}
		at = max(end, slash+1)
	}
}

// pathRune tells runes that a path in prose consists of. The colon is not one:
// it stands behind paths (file.go:12) far more often than in them.
func pathRune(r rune) bool {
	if r == utf8.RuneError {
		return false
	}
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.IndexByte("/._-~@+%=,#", byte(r)) >= 0
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// insideURL tells whether the run that starts at start is the rest of a URL.
func insideURL(s string, start int) bool {
	return start > 0 && s[start-1] == ':' && strings.HasPrefix(s[start:], "//")
}

// remoteName tells host:owner/repo.git and the like: something relative that
// follows a colon directly.
func remoteName(s string, start int) bool {
	return start > 0 && s[start-1] == ':' && s[start] != '/' && s[start] != '~' && s[start] != '.'
}

// usualRoot tells first segments under which absolute paths are files even
// without an extension.
func usualRoot(name string) bool {
	switch name {
	case "home", "Users", "root", "tmp", "var", "opt", "srv", "usr", "etc", "mnt", "media",
		"private", "workspace", "workspaces", "Volumes", "data", "app":
		return true
	}
	return false
}

const minPath = 6 // shorter finds are noise

// cleanPath trims what prose hangs onto a path and returns "" for anything that
// is not clearly one.
func cleanPath(p string) string {
	if n := strings.LastIndexByte(p, '='); n >= 0 { // KEY=/path, --flag=/path
		p = p[n+1:]
	}
	p = strings.TrimLeft(p, ",#%+")
	p = strings.TrimRight(p, ".,#%+=~@-")
	if len(p) < minPath || len(p) > maxPath || strings.Contains(p, "//") {
		return ""
	}
	first, rest, found := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch {
	case !found || rest == "":
		return ""
	case p[0] == '/':
		if usualRoot(first) || hasExtension(p) {
			return p
		}
	case strings.HasPrefix(p, "~/"):
		return p
	case hasExtension(p) && !looksLikeHost(first) && hasLetter(first):
		return p
	}
	return ""
}

// hasExtension wants a last segment such as main.go or .env.local: up to eight
// letters and digits behind the last dot, beginning with a letter.
func hasExtension(p string) bool {
	base := p[strings.LastIndexByte(p, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	ext := base[dot+1:]
	if dot < 0 || len(ext) == 0 || len(ext) > 8 {
		return false
	}
	for i := range len(ext) {
		letter := ext[i]|0x20 >= 'a' && ext[i]|0x20 <= 'z'
		if !letter && (i == 0 || ext[i] < '0' || ext[i] > '9') {
			return false
		}
	}
	return true
}

// hostEndings are last labels that make a first segment a host name.
var hostEndings = []string{".com", ".org", ".net", ".io", ".dev", ".ai", ".app", ".gov", ".edu", ".co", ".invalid", ".example"}

func looksLikeHost(first string) bool {
	if strings.HasPrefix(first, ".") {
		return false
	}
	for _, end := range hostEndings {
		if strings.HasSuffix(strings.ToLower(first), end) {
			return true
		}
	}
	return strings.HasPrefix(first, "www.") || strings.Contains(first, "@")
}

func hasLetter(s string) bool {
	return strings.IndexFunc(s, unicode.IsLetter) >= 0 || strings.HasPrefix(s, ".")
}
