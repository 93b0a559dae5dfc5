package packet

import "strings"

// rule recognises one form of secret by how it begins.
type rule struct {
	kind string
	lead string // at least three bytes
	fold bool   // the lead in any case
	word bool   // only at the beginning of a word
	body uint8  // classes of the bytes that follow the lead
	min  int    // least number of them
	// match returns the bytes to replace. start is the lead's first byte,
	// after the first byte behind it.
	match func(s *scanner, r *rule, start, after int) (from, end int, ok bool)
}

// token is the usual form: a fixed lead and a long run behind it.
func token(kind, lead string, body uint8, least int) rule {
	return rule{kind: kind, lead: lead, word: true, body: body, min: least, match: matchToken}
}

func matchToken(s *scanner, r *rule, start, after int) (int, int, bool) {
	end := s.run(after, r.body)
	if r.body&isDot != 0 && !(s.cut && end == len(s.text)) { // a full stop ends the sentence, not the token
		for end > after && s.text[end-1] == '.' {
			end--
		}
	}
	return start, end, s.enough(after, end, r.min)
}

// allRules lists every form that is recognised by its beginning. The forms are
// those that the issuing services document.
func allRules() []rule {
	rules := []rule{
		token("anthropic_key", "sk-ant-", isToken, 16),
		{kind: "api_key", lead: "sk-", word: true, body: isToken, min: 16, match: matchSK},
		token("stripe_key", "sk_live_", isWord, 16), token("stripe_key", "sk_test_", isWord, 16),
		token("stripe_key", "rk_live_", isWord, 16), token("stripe_key", "rk_test_", isWord, 16),
		token("stripe_key", "whsec_", isWord|isBase64, 16),
		token("github_token", "github_pat_", isWord, 20),
		token("google_key", "AIza", isToken, 30), token("google_key", "GOCSPX-", isToken, 20),
		token("google_token", "ya29.", isDotted, 20),
		token("slack_token", "xapp-", isToken, 10), token("slack_token", "xoxe.xox", isToken, 10),
		token("npm_token", "npm_", isWord, 30),
		token("pypi_token", "pypi-", isToken, 50),
		token("docker_token", "dckr_pat_", isToken, 20),
		token("huggingface_token", "hf_", isWord, 30),
		token("sendgrid_key", "SG.", isDotted, 40),
		token("vault_token", "hvs.", isDotted, 20), token("vault_token", "hvb.", isDotted, 20),
		token("grafana_token", "glsa_", isWord, 30),
		token("linear_key", "lin_api_", isWord, 30), token("linear_key", "lin_oauth_", isWord, 30),
		token("atlassian_token", "ATATT3", isToken|isOpaque, 40), token("atlassian_token", "ATCTT3", isToken|isOpaque, 40),
		token("tailscale_key", "tskey-", isToken, 20),
		token("dynatrace_token", "dt0c01.", isDotted, 40),
		token("notion_token", "ntn_", isWord, 40),
		token("square_token", "sq0atp-", isToken, 20), token("square_token", "sq0csp-", isToken, 40),
		token("databricks_token", "dapi", isWord, 32),
		token("mailgun_key", "key-", isWord, 32),
		token("facebook_token", "EAAC", isWord, 60),
		token("hubspot_token", "pat-na1-", isToken, 36), token("hubspot_token", "pat-eu1-", isToken, 36),
		token("together_key", "tgp_v1_", isToken, 40),
		token("posthog_key", "phx_", isWord, 30),
		token("figma_token", "figd_", isToken, 30),
		token("postman_key", "PMAK-", isToken, 40),
		token("doppler_token", "dp.pt.", isToken, 40),
		token("supabase_token", "sbp_", isWord, 40),
		token("rubygems_key", "rubygems_", isWord, 40),
		token("groq_key", "gsk_", isWord, 40), token("xai_key", "xai-", isToken, 40),
		token("replicate_token", "r8_", isWord, 30), token("perplexity_key", "pplx-", isToken, 40),
		token("nvidia_key", "nvapi-", isToken, 40),
		token("newrelic_key", "NRAK-", isToken, 20),
		token("age_key", "AGE-SECRET-KEY-1", isToken, 40),
		token("azure_key", "AccountKey=", isB64Run|isOpaque, 40),
		{kind: "jwt", lead: "eyJ", word: true, match: matchJWT},
		{kind: "private_key", lead: "-----BEGIN ", match: matchPEM},
		{kind: "url_password", lead: "://", match: matchUserinfo},
		{kind: "bearer_token", lead: "bearer", fold: true, word: true, body: isBearer, min: 20, match: matchBearer},
		{kind: "authorization", lead: "authorization", fold: true, match: matchAuthorization},
		{kind: "webhook_url", lead: "hooks.slack.com/services/", fold: true, body: isWord | isBase64, min: 20, match: matchAfterLead},
		{kind: "webhook_url", lead: "discord.com/api/webhooks/", fold: true, body: isToken | isBase64, min: 20, match: matchAfterLead},
		{kind: "webhook_url", lead: "discordapp.com/api/webhooks/", fold: true, body: isToken | isBase64, min: 20, match: matchAfterLead},
	}
	for _, ch := range "pousr" {
		rules = append(rules, token("github_token", "gh"+string(ch)+"_", isWord, 20))
	}
	for _, ch := range "abeoprs" {
		rules = append(rules, token("slack_token", "xox"+string(ch)+"-", isToken, 10))
	}
	for _, lead := range []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glft-", "glagent-"} {
		rules = append(rules, token("gitlab_token", lead, isDotted, 20))
	}
	for _, lead := range []string{"dop_v1_", "doo_v1_", "dor_v1_"} {
		rules = append(rules, token("digitalocean_token", lead, isWord, 40))
	}
	for _, lead := range []string{"shpat_", "shpca_", "shppa_", "shpss_"} {
		rules = append(rules, token("shopify_token", lead, isWord, 20))
	}
	for _, lead := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		rules = append(rules, rule{kind: "aws_key_id", lead: lead, word: true, body: isUpper | isDigit, min: 16, match: matchAWS})
	}
	return append(append(rules, namedRules()...), commandRules()...)
}

// matchSK tells keys from names that happen to begin like one, such as
// sk-learn-experiments: words between dashes, without a digit or a capital.
func matchSK(s *scanner, r *rule, start, after int) (int, int, bool) {
	body := s.text[after:s.runTo(after, r.body, maxBody)]
	from, end, ok := start, after+len(body), false
	if len(body) == maxBody || s.enough(after, end, r.min) {
		from, end, ok = matchToken(s, r, start, after)
	}
	if ok && len(body) < maxBody && strings.ContainsAny(body, "-_") && strings.ToLower(body) == body && !strings.ContainsAny(body, "0123456789") {
		return 0, 0, false
	}
	return from, end, ok
}

// maxBody is how far a rule looks before it decides. The head of a token and the
// names and values that people give are shorter.
const maxBody = 512

// matchAWS wants exactly sixteen capitals and digits, so that capitalised words
// are left alone.
func matchAWS(s *scanner, r *rule, start, after int) (int, int, bool) {
	end := s.runTo(after, r.body, r.min+1)
	whole := end-after == r.min || s.cut && end == len(s.text) && end-after < r.min && end > after
	return start, end, whole && (end == len(s.text) || s.screen.class[s.text[end]]&isWord == 0)
}

// matchAfterLead keeps the lead and replaces what follows.
func matchAfterLead(s *scanner, r *rule, _, after int) (int, int, bool) {
	end := s.run(after, r.body)
	return after, end, end > after && s.enough(after, end, r.min)
}

// matchJWT wants two or three parts in base64, the first of which begins like
// an encoded JSON object; so does the second of a signed token.
func matchJWT(s *scanner, _ *rule, start, after int) (int, int, bool) {
	head := s.runTo(after, isToken, maxBody)
	if head-after < 8 || head-after == maxBody {
		return 0, 0, false
	}
	if head == len(s.text) {
		return start, head, s.cut
	}
	if s.text[head] != '.' {
		return 0, 0, false
	}
	if probe := s.runTo(head+1, isToken, 8); !s.enough(head+1, probe, 8) {
		return 0, 0, false
	}
	end := s.run(head+1, isToken)
	for range 3 { // a signature; five parts if it is encrypted
		if end+1 < len(s.text) && s.text[end] == '.' {
			if next := s.run(end+1, isToken); next > end+1 {
				end = next
				continue
			}
		}
		break
	}
	if s.cut && s.text[end:] == "." {
		end++
	}
	return start, end, true
}

// matchPEM takes a private key from its first line to its last. Without a last
// line, everything that can belong to the key goes: a cut never leaves a half.
func matchPEM(s *scanner, _ *rule, start, after int) (int, int, bool) {
	title, _, found := strings.Cut(ahead(s.text, after, 80), "-----")
	if !found {
		return start, len(s.text), s.cut && len(s.text)-after < 40
	}
	if !strings.Contains(title, "PRIVATE KEY") {
		return 0, 0, false
	}
	body := after + len(title) + len("-----")
	if n := strings.Index(ahead(s.text, body, maxKey), "-----END "); n >= 0 {
		last := body + n + len("-----END ")
		if m := strings.Index(ahead(s.text, last, 80), "-----"); m >= 0 {
			return start, last + m + len("-----"), true
		}
	}
	return start, s.keyBody(body), true
}

// maxKey is the longest key whose last line is looked for.
const maxKey = 16 << 10

// ahead is at most n bytes of text from i on. It keeps searches for an end that
// is not there from costing the whole text each time.
func ahead(text string, i, n int) string { return text[i:min(len(text), i+n)] }

// keyBody returns the end of what can be the inside of a key: base64, header
// lines, blanks and line ends, also written-out ones.
func (s *scanner) keyBody(i int) int {
	for i < len(s.text) {
		end := s.run(i, isB64Run|isOpaque|isDash)
		switch {
		case strings.HasPrefix(s.text[i:], "-----END") && len(s.text)-i < 80:
			return len(s.text) // the last line, cut
		case end > i && (end-i >= 16 || s.lineEnds(end)):
			i = end
		case end > i:
			// A short word: prose, unless a colon makes it a key's header line.
			line := strings.IndexByte(ahead(s.text, i, 200), '\n')
			colon := strings.IndexByte(ahead(s.text, i, 30), ':')
			if line < 0 || colon < 0 || colon > line {
				return i
			}
			i += line
		case strings.IndexByte(" \t\r\n", s.text[i]) >= 0:
			i++
		case strings.HasPrefix(s.text[i:], `\n`) || strings.HasPrefix(s.text[i:], `\r`):
			i += 2
		case s.cut && s.text[i:] == `\`:
			i++
		default:
			return i
		}
	}
	return i
}

// lineEnds reports whether a line ends at i, also one that is written out.
func (s *scanner) lineEnds(i int) bool {
	return i == len(s.text) || s.text[i] == '\n' || s.text[i] == '\r' || s.text[i] == '\\'
}

// matchUserinfo replaces the password of scheme://user:password@host.
func matchUserinfo(s *scanner, _ *rule, start, after int) (int, int, bool) {
	if start == 0 || s.screen.class[s.text[start-1]]&(isWord|isDash|isDot) == 0 {
		return 0, 0, false
	}
	colon, last := -1, -1
	i := after
scan:
	for ; i < len(s.text) && i-after < 512; i++ {
		switch ch := s.text[i]; {
		case ch == ':' && colon < 0:
			colon = i
		case ch == '@':
			last = i
		case ch <= ' ' || strings.IndexByte("/\"'`<>?#", ch) >= 0:
			break scan
		}
	}
	if last < 0 {
		if s.cut && i == len(s.text) && colon >= 0 && i-colon > 6 {
			return colon + 1, i, true // the @ was cut off
		}
		return 0, 0, false
	}
	from := colon + 1
	if colon < 0 || colon > last || from == last || s.text[from:last] == "x-oauth-basic" {
		// A name without a password is only secret if it is one of the long opaque ones.
		if colon < 0 || colon > last {
			colon = last
		}
		return after, colon, colon-after >= 20 && varied(s.text[after:colon])
	}
	return from, last, last > from && !placeholder(s.text[from:last])
}

// matchBearer keeps the word and replaces the token.
func matchBearer(s *scanner, r *rule, _, after int) (int, int, bool) {
	from := after
	for from < len(s.text) && (s.text[from] == ' ' || s.text[from] == '\t') {
		from++
	}
	if from == after {
		return 0, 0, false
	}
	end := s.run(from, r.body)
	for end > from && s.text[end-1] == '.' {
		end--
	}
	return from, end, end > from && s.enough(from, end, r.min)
}
