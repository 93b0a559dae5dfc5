package packet

import (
	"slices"
	"strings"
)

// commandRules recognise what stands in commands and headers without a telling
// name of its own: a flag of a program that takes a password, a cookie, the
// signature in an address. Only the value is replaced.
func commandRules() []rule {
	var rules []rule
	for _, f := range []flagOf{
		{flag: " -p", of: []string{"sshpass"}, attached: true, spaced: true},
		{flag: " -p", of: []string{"mysql", "mysqldump", "mysqladmin", "mariadb"}, attached: true},
		{flag: " -p", of: []string{"login"}, spaced: true}, // of docker, podman and others
		{flag: " -a", of: []string{"redis-cli"}, spaced: true},
		{flag: " -u", of: []string{"curl"}, attached: true, spaced: true, user: true},
		{flag: " --user", of: []string{"curl"}, spaced: true, user: true},
	} {
		rules = append(rules, rule{kind: "password", lead: f.flag, min: 6, match: f.match})
	}
	for _, lead := range []string{"?sig=", "&sig="} {
		rules = append(rules, rule{kind: "azure_key", lead: lead, min: 20, match: matchParameter})
	}
	return append(rules,
		rule{kind: "cookie", lead: "cookie", fold: true, min: 12, match: matchCookie},
		rule{kind: "telegram_token", lead: ":AA", body: isToken, min: 30, match: matchTelegram},
		rule{kind: "password", lead: "password", word: true, fold: true, match: matchNetrc},
		rule{kind: "password", lead: "password", word: true, fold: true, match: matchRole},
		rule{kind: "password", lead: "identified by", word: true, fold: true, match: matchStatement},
	)
}

// flagOf is a flag that takes a password in some programs.
type flagOf struct {
	flag             string
	of               []string
	attached, spaced bool // whether the value follows at once, or after a blank
	user             bool // the value is name:password
}

func (f flagOf) match(s *scanner, r *rule, start, after int) (int, int, bool) {
	i := s.blanks(after)
	if i == after && !f.attached || i > after && !f.spaced || !s.runs(start, f.of) {
		return 0, 0, false
	}
	from, quote := s.quote(i)
	end := s.valueEnd(from, quote, maxBody)
	if f.user {
		colon := strings.IndexByte(s.text[from:end], ':')
		if colon < 0 {
			return 0, 0, false
		}
		from += colon + 1
	}
	value := s.text[from:end]
	if !s.enough(from, end, r.min) || len(value) < 4 || placeholder(value) || !varied(value) || quote == 0 && codeLike(value) {
		return 0, 0, false
	}
	return from, s.valueEnd(from, quote, len(s.text)), true
}

// matchNetrc replaces the password of an entry of a netrc file, on one line or over
// several: it stands behind the login, the account or the machine that it is for.
func matchNetrc(s *scanner, _ *rule, start, after int) (int, int, bool) {
	from := s.blanks(after)
	words := strings.Fields(strings.ReplaceAll(s.text[max(0, start-maxCommand):start], `\n`, " "))
	n := len(words)
	if from == after || n < 2 || !slices.Contains([]string{"login", "account", "machine"}, words[n-2]) && words[n-1] != "default" {
		return 0, 0, false
	}
	end := s.valueEnd(from, 0, maxBody)
	value := s.text[from:end]
	return from, s.valueEnd(from, 0, len(s.text)), len(value) >= 4 && !placeholder(value) && varied(value)
}

// matchRole replaces the password of an SQL statement on a user or a role.
func matchRole(s *scanner, r *rule, start, after int) (int, int, bool) {
	before := strings.ToLower(s.text[max(0, start-maxCommand):start])
	before = before[strings.LastIndexByte(before, ';')+1:]
	if !slices.ContainsFunc(strings.Fields(before), func(w string) bool { return w == "user" || w == "role" }) {
		return 0, 0, false
	}
	return matchStatement(s, r, start, after)
}

// matchStatement replaces the string behind words of an SQL statement.
func matchStatement(s *scanner, _ *rule, _, after int) (int, int, bool) {
	i := s.blanks(after)
	from, quote := s.quote(i)
	if i == after || quote != '\'' && quote != '"' {
		return 0, 0, false
	}
	end := s.valueEnd(from, quote, maxBody)
	value := s.text[from:end]
	return from, s.valueEnd(from, quote, len(s.text)), len(value) >= 4 && !placeholder(value) && !strings.Contains(value, " ")
}

// maxCommand is how far before a flag its program is looked for.
const maxCommand = 200

// runs reports whether one of the programs is called before i, in the same command.
func (s *scanner) runs(i int, programs []string) bool {
	before := s.text[max(0, i-maxCommand):i]
	before = before[strings.LastIndexAny(before, "\n\r|;&")+1:]
	if n := strings.LastIndex(before, `\n`); n >= 0 {
		before = before[n+2:]
	}
	words := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(" \t\"'`($/", r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(programs, w) })
}

// matchParameter replaces the value of a parameter in an address.
func matchParameter(s *scanner, r *rule, _, after int) (int, int, bool) {
	end := s.valueEnd(after, 0, maxBody)
	value := s.text[after:end]
	ok := s.enough(after, end, r.min) && len(value) >= 4 && !placeholder(value) && varied(value)
	return after, s.valueEnd(after, 0, len(s.text)), ok
}

// matchCookie replaces all that a cookie header carries.
func matchCookie(s *scanner, r *rule, _, after int) (int, int, bool) {
	if after >= len(s.text) || s.text[after] != ':' {
		return 0, 0, false
	}
	from := s.blanks(after + 1)
	line := ahead(s.text, from, maxBody)
	if n := strings.IndexAny(line, "\r\n\"'`"); n >= 0 {
		line = line[:n]
	}
	if n := strings.Index(line, `\n`); n >= 0 {
		line = line[:n]
	}
	line = strings.TrimRight(line, ` \`)
	_, value, named := strings.Cut(line, "=")
	if value, _, _ = strings.Cut(value, ";"); !named || len(value) < r.min || placeholder(value) || !varied(value) {
		return 0, 0, false
	}
	return from, from + len(line), true
}

// matchTelegram wants the number of the bot before the colon.
func matchTelegram(s *scanner, r *rule, start, after int) (int, int, bool) {
	from := start
	for from > s.at && start-from < 11 && s.screen.class[s.text[from-1]] == isDigit {
		from--
	}
	end := s.run(after, r.body)
	return from, end, start-from >= 8 && start-from <= 10 && s.begins(from) && s.enough(after, end, r.min)
}
