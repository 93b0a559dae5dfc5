package packet

import "strings"

// namedRules recognise values by the name before them: password=…, "api_key":
// "…", AWS_SECRET_ACCESS_KEY=…. Only the value is replaced.
func namedRules() []rule {
	var rules []rule
	for _, n := range []struct {
		kind, name string
		min        int
	}{
		{"password", "password", 6},
		{"password", "passwd", 6},
		{"password", "passphrase", 8},
		{"password", "pgpass", 6},
		{"password", "_pwd", 6},
		{"password", "_pass", 6},
		{"password", "sshpass", 6},
		{"secret", "secret", 10},
		{"secret", "credential", 10},
		{"token", "token", 12},
		{"api_key", "api_key", 10},
		{"api_key", "apikey", 10},
		{"api_key", "api-key", 10},
		{"api_key", "api key", 10},
		{"access_key", "access_key", 10},
		{"access_key", "access-key", 10},
		{"access_key", "accesskey", 10},
		{"private_key", "private_key", 10},
		{"private_key", "privatekey", 10},
		{"api_key", "signing_key", 10},
		{"api_key", "encryption_key", 10},
		{"api_key", "auth_key", 10},
	} {
		rules = append(rules, rule{kind: n.kind, lead: n.name, fold: true, min: n.min, match: matchNamed})
	}
	return rules
}

// matchNamed wants the rest of the name, what joins it to a value, and a value
// that looks like a secret and not like code or a placeholder.
func matchNamed(s *scanner, r *rule, start, after int) (int, int, bool) {
	nameEnd := s.runTo(after, isToken, maxNameRest+1)
	if !s.nameGoesOn(after, nameEnd) {
		return 0, 0, false
	}
	i, ok := s.joined(start, after, nameEnd)
	if !ok {
		return 0, 0, false
	}
	from, quote := s.quote(i)
	end := s.valueEnd(from, quote, maxBody)
	value := s.text[from:end]
	if !s.enough(from, end, r.min) || len(value) < 4 || placeholder(value) {
		return 0, 0, false
	}
	if quote == 0 && codeLike(value) {
		return 0, 0, false
	}
	if strings.Contains(value, " ") && (r.kind != "password" || len(value) > 64) {
		return 0, 0, false // a sentence
	}
	if !varied(value) && (quote == 0 || r.kind != "password" || strings.Contains(value, " ")) {
		return 0, 0, false
	}
	return from, s.valueEnd(from, quote, len(s.text)), true
}

// joined passes what stands between a name and its value: a colon or equals sign;
// of a flag such as --password a blank; in a sentence "is".
func (s *scanner) joined(start, after, nameEnd int) (value int, ok bool) {
	i, _ := s.quote(nameEnd)
	blank := s.blanks(i)
	switch rest := s.text[blank:]; {
	case rest != "" && (rest[0] == '=' || rest[0] == ':'):
		i = blank + 1
		if i < len(s.text) && (s.text[i] == '>' || s.text[i] == '=') {
			i++
		}
		return s.blanks(i), true
	case i != nameEnd || blank == nameEnd:
		return 0, false
	case strings.HasPrefix(rest, "is "):
		return s.blanks(blank + len("is ")), true
	case nameEnd == after && s.flag(start):
		return blank, rest != "" && rest[0] != '-'
	}
	return 0, false
}

// flag reports whether the word in which a name stands at i is a flag with two dashes.
func (s *scanner) flag(i int) bool {
	from := i
	for from > 0 && i-from < 64 && s.screen.class[s.text[from-1]]&isToken != 0 {
		from--
	}
	return strings.HasPrefix(s.text[from:], "--") && (from == 0 || strings.IndexByte(" \t\n\"'`(", s.text[from-1]) >= 0)
}

// maxNameRest is how long a name may go on behind its telling part.
const maxNameRest = 24

// nameGoesOn accepts what may follow the telling part of a name: nothing, a
// plural, a further part. So secret_id and secretKey are names of secrets,
// secretary and tokenizer are not.
func (s *scanner) nameGoesOn(after, end int) bool {
	rest := s.text[after:end]
	switch {
	case rest == "" || rest == "s" || rest == "S":
		return true
	case len(rest) > maxNameRest:
		return false
	case rest[0] == '_' || rest[0] == '-':
		return true
	}
	return s.screen.class[rest[0]] == isUpper && s.screen.class[s.text[after-1]] == isLower
}

// quote passes an opening or closing quote, also an escaped one.
func (s *scanner) quote(i int) (int, byte) {
	j := i
	if j < len(s.text) && s.text[j] == '\\' {
		j++
	}
	if j < len(s.text) && strings.IndexByte("\"'`", s.text[j]) >= 0 {
		return j + 1, s.text[j]
	}
	return i, 0
}

func (s *scanner) blanks(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t') {
		i++
	}
	return i
}

// valueEnd finds where a value stops: at its quote, else at the next blank or
// mark that no bare value holds; after limit bytes in any case.
func (s *scanner) valueEnd(i int, quote byte, limit int) int {
	for last := min(len(s.text), i+limit); i < last; i++ {
		ch := s.text[i]
		switch {
		case ch < ' ' || ch == 0x7f:
			return i
		case quote != 0 && ch == quote:
			if s.text[i-1] == '\\' {
				return i - 1
			}
			return i
		case quote == 0 && (ch == ' ' || strings.IndexByte("\"'`,;)}]&<>|", ch) >= 0):
			return i
		case quote == 0 && ch == '\\' && i+1 < len(s.text) && strings.IndexByte(`nrt"`, s.text[i+1]) >= 0:
			return i
		}
	}
	return i
}

// placeholder tells values that stand for a secret without being one.
func placeholder(v string) bool {
	if v == "" || strings.ContainsAny(v[:1], "$<{[%*(") || strings.Contains(v, Marker) {
		return true
	}
	lower := strings.ToLower(v)
	for _, word := range []string{"xxxx", "****", "....", "your_", "your-", "<your", "changeme", "placeholder", "redacted", "process.env", "os.environ", "os.getenv", "secrets."} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return strings.Trim(lower, lower[:1]) == ""
}

// codeLike tells bare values that are expressions or types rather than data.
func codeLike(v string) bool {
	if strings.ContainsAny(v, "(){}[]$") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") {
		return true
	}
	// names.with.dots are selectors; random text has digits between them
	return strings.Contains(v, ".") && strings.IndexFunc(v, func(r rune) bool { return r >= '0' && r <= '9' }) < 0
}

// varied tells values that mix characters as generated ones do.
func varied(v string) bool {
	var lower, upper, digit, other int
	for i := range len(v) {
		switch ch := v[i]; {
		case ch >= 'a' && ch <= 'z':
			lower++
		case ch >= 'A' && ch <= 'Z':
			upper++
		case ch >= '0' && ch <= '9':
			digit++
		default:
			other++
		}
	}
	if lower+upper == 0 {
		return digit >= 12
	}
	return digit > 0 || len(v) >= 16 && lower > 0 && upper > 0 && upper*10 >= len(v) || other > 0 && strings.ContainsAny(v, "!@#$%^&*+/=~")
}

// matchAuthorization replaces the credentials of an authorization header, with
// whatever scheme.
func matchAuthorization(s *scanner, _ *rule, _, after int) (int, int, bool) {
	i, _ := s.quote(after)
	i = s.blanks(i)
	if i >= len(s.text) || s.text[i] != ':' && s.text[i] != '=' {
		return 0, 0, false
	}
	i, _ = s.quote(s.blanks(i + 1))
	scheme := s.run(i, isToken)
	from := s.blanks(scheme)
	if from == scheme { // no scheme: the value follows directly
		from = i
	}
	end := s.run(from, isBearer)
	if !s.enough(from, end, 12) || end-from < 4 {
		return 0, 0, false
	}
	return from, end, varied(s.text[from:end])
}

// publicBefore tells runs that are known to be checksums or public keys by what
// stands before them.
func publicBefore(before string) bool {
	for _, mark := range []string{"sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "h1:", "SHA256:", "ssh-rsa ", "ssh-ed25519 ", "base64,"} {
		if strings.HasSuffix(before, mark) {
			return true
		}
	}
	return false
}
