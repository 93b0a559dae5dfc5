package packet

import (
	"os"
	"strings"
	"testing"

	"rig/engine/transcript"
)

// ex is filler for made-up secrets: values that were never valid.
const ex = "EXAMPLEexample0000EXAMPLEexample0000EXAMPLEexample0000EXAMPLEexample0000"

// made lists one made-up value of each form, and the kind it is counted as. The
// values are put together here so that no scanner takes this file for a leak.
func made() map[string]string {
	return map[string]string{
		"sk-" + "ant-api03-" + ex[:48]:                               "anthropic_key",
		"sk-" + ex[:20]:                                              "api_key",
		"sk-" + strings.Repeat("a", 20):                              "api_key",
		"sk_" + "live_" + "EXAMPLEexample0000":                       "stripe_key",
		"gh" + "p_" + ex[:36]:                                        "github_token",
		"gh" + "s_" + ex[:20]:                                        "github_token",
		"github" + "_pat_" + ex[:22] + "_" + ex[:40]:                 "github_token",
		"gl" + "pat-" + ex[:20]:                                      "gitlab_token",
		"AKIA" + "EXAMPLE000000000":                                  "aws_key_id",
		"AIza" + ex[:35]:                                             "google_key",
		"xox" + "b-000000000000-" + ex[:14]:                          "slack_token",
		"npm" + "_" + ex[:36]:                                        "npm_token",
		"ATA" + "TT3xFfGF0" + ex[:40]:                                "atlassian_token",
		"tsk" + "ey-auth-k" + ex[:30]:                                "tailscale_key",
		"ntn" + "_" + ex[:46]:                                        "notion_token",
		"sq0" + "csp-" + ex[:43]:                                     "square_token",
		"key" + "-" + ex[:32]:                                        "mailgun_key",
		"dap" + "i" + strings.Repeat("0a1b", 8):                      "databricks_token",
		"1234567890:" + "AA" + ex[:33]:                               "telegram_token",
		"lin" + "_oauth_" + ex[:40]:                                  "linear_key",
		"hf" + "_" + ex[:34]:                                         "huggingface_token",
		"SG." + ex[:22] + "." + ex[:43]:                              "sendgrid_key",
		"eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJFWEFNUExFIn0.c2ln0000": "jwt",
		"-----BEGIN " + "PRIVATE KEY-----\nRVhBTVBMRQ==\n-----END PRIVATE KEY-----":                 "private_key",
		"-----BEGIN " + "OPENSSH PRIVATE KEY-----\\nRVhBTVBMRQ\\n-----END OPENSSH PRIVATE KEY-----": "private_key",
		"q7Zk2Vn9XbT4mLr8Wd1Hs6Pf3Gy5Jc0QaUeRtYiO":                                                  "opaque_key",
	}
}

func TestEveryFormIsRedacted(t *testing.T) {
	for secret, kind := range made() {
		for _, frame := range []string{"%", "Use % for the test.", "key=%\n", "(\"%\")", "日本語%日本語", `{\"k\":\"%\"}`, `line\n% more`, "<%>"} {
			if strings.HasPrefix(frame, `line`) && kind == "opaque_key" {
				continue // an unmarked run takes the escape's letter into itself
			}
			text := strings.ReplaceAll(frame, "%", secret)
			got, counts := Redact(text)
			if want := strings.ReplaceAll(frame, "%", Marker); got != want {
				t.Errorf("%s: %q became %q", kind, text, got)
				continue
			}
			if counts.Total() != 1 || counts[kind] != 1 && frame != "key=%\n" {
				t.Errorf("%q counted as %v, want %s", text, counts, kind)
			}
			if again, more := Redact(got); again != got || more != nil {
				t.Errorf("redacting twice: %q, %v", again, more)
			}
		}
	}
}

func TestValuesKnownByTheirNames(t *testing.T) {
	tests := map[string]string{
		"AWS_SECRET_ACCESS_KEY=EXAMPLEexample/EXAMPLEexample+EXAMPLE0000000": "AWS_SECRET_ACCESS_KEY=" + Marker,
		"password: hunter22":                                            "password: " + Marker,
		"PGPASSWORD=s3cret-word psql":                                   "PGPASSWORD=" + Marker + " psql",
		`"password": "correct-horse"`:                                   `"password": "` + Marker + `"`,
		`{\"client_secret\": \"abc123abc123\"}`:                         `{\"client_secret\": \"` + Marker + `\"}`,
		"api_key = 'a1b2c3d4e5f6'":                                      "api_key = '" + Marker + "'",
		"?access_token=abc123abc123abc&x=1":                             "?access_token=" + Marker + "&x=1",
		"clientSecret: Abc123Abc123":                                    "clientSecret: " + Marker,
		"Authorization: Bearer EXAMPLE.example.0000-EXAM":               "Authorization: Bearer " + Marker,
		"authorization=Basic b3A6RVhBTVBMRQ==":                          "authorization=Basic " + Marker,
		"curl -H 'bearer abcdefghijklmnopqrst'":                         "curl -H 'bearer " + Marker + "'",
		"postgres://op:EXAMPLEpassword@db.example/shop":                 "postgres://op:" + Marker + "@db.example/shop",
		"https://abc123abc123abc123abc:@example.invalid/r":              "https://" + Marker + ":@example.invalid/r",
		"https://abc123abc123abc123abc:x-oauth-basic@example.invalid/r": "https://" + Marker + ":x-oauth-basic@example.invalid/r",
		"https://x-access-token:abc@example.invalid/r":                  "https://x-access-token:" + Marker + "@example.invalid/r",
		"https://hooks.slack.com/services/T000/B000/EXAMPLEexample0000": "https://hooks.slack.com/services/" + Marker,
		"psql --password hunter22 -h db":                                "psql --password " + Marker + " -h db",
		"gh auth login --token 'abc123abc123abc' --web":                 "gh auth login --token '" + Marker + "' --web",
		"tool --api-key abc123abc123 --secret-key abc123-word":          "tool --api-key " + Marker + " --secret-key abc123-word",
		"The password is Hunter22x, do not tell":                        "The password is " + Marker + ", do not tell",
		"the api key is `a1b2c3d4e5f6`":                                 "the api key is `" + Marker + "`",
		"API key: a1b2c3d4e5f6":                                         "API key: " + Marker,
		"DB_PASS=Hunter22x":                                             "DB_PASS=" + Marker,
		"smtp_pass: 'Hunter22x'":                                        "smtp_pass: '" + Marker + "'",
		"SSHPASS=Hunter22x ssh h":                                       "SSHPASS=" + Marker + " ssh h",
		"sshpass -p Hunter22x ssh h":                                    "sshpass -p " + Marker + " ssh h",
		"sshpass -pHunter22x ssh h":                                     "sshpass -p" + Marker + " ssh h",
		"mysql -u root -pHunter22x shop":                                "mysql -u root -p" + Marker + " shop",
		"docker login -u op -p Hunter22x r.example":                     "docker login -u op -p " + Marker + " r.example",
		"redis-cli -h r -a Hunter22x ping":                              "redis-cli -h r -a " + Marker + " ping",
		"curl -s -u op:Hunter22x https://h.example/":                    "curl -s -u op:" + Marker + " https://h.example/",
		"/usr/bin/curl --user 'op:Hunter22x' https://h.example/":        "/usr/bin/curl --user 'op:" + Marker + "' https://h.example/",
		"curl -H 'Cookie: sid=abc123abc123abc; x=1' h":                  "curl -H 'Cookie: " + Marker + "' h",
		"Set-Cookie: sid=s%3Aabc123abc123.zz\nnext":                     "Set-Cookie: " + Marker + "\nnext",
		"machine h.example login op password Hunter22x":                 "machine h.example login op password " + Marker,
		"machine h.example\n  login op\n  password Hunter22x\n":         "machine h.example\n  login op\n  password " + Marker + "\n",
		"default login op password Hunter22x":                           "default login op password " + Marker,
		"CREATE USER op IDENTIFIED BY 'hunter-word';":                   "CREATE USER op IDENTIFIED BY '" + Marker + "';",
		"create user op identified by \"Hunter22x\"":                    "create user op identified by \"" + Marker + "\"",
		"ALTER ROLE op WITH LOGIN PASSWORD 'hunterword';":               "ALTER ROLE op WITH LOGIN PASSWORD '" + Marker + "';",
		"psql -c \"ALTER USER op PASSWORD 'Hunter22x'\"":                "psql -c \"ALTER USER op PASSWORD '" + Marker + "'\"",
		"https://h.example/b?sv=1&sig=abc123%2Babc123abc123abc%3D&se=2": "https://h.example/b?sv=1&sig=" + Marker + "&se=2",
	}
	for text, want := range tests {
		got, counts := Redact(text)
		if got != want || counts.Total() != 1 {
			t.Errorf("%q became %q (%v)", text, got, counts)
		}
		if again, more := Redact(got); again != got || more != nil {
			t.Errorf("redacting twice: %q, %v", again, more)
		}
	}
}

func TestWhatMustSurvive(t *testing.T) {
	for _, text := range []string{
		"Commit 3f2c9a7b5e1d4c8f6a0b9d8e7c6f5a4b3c2d1e0f touched it",
		"sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
		"session 5e550092-0000-4000-8000-00000000a092",
		"/home/op/project/packages/daemon/source/domain/restore/planner.go",
		".rig/compaction/01JDQ4ZK8W3M5N7P9R1T2V4X6Y/RESTORE-MAP.md",
		"/home/op/project/.rig/compaction/01JDQ4ZK8W3M5N7P9R1T2V4X6Y/RESTORE-MAP.md is the map",
		"read .rig/packets/dev-impl-01JDQ4ZK8W3M5N7P9R1T2V4X6Y/restore-instructions.md",
		"/var/lib/app/attempts/01JDQ4ZK8W3M5N7P9R1T2V4X6Y/sessions/01JDQ4ZK8W3M5N7P9R1T2V4X6Z/state",
		"/srv/store/objects/2Nq8VxTzR4kLmP7wYbC3dF5gH6J/parts/list",
		"/home/op/.claude/projects/home/5e550092-0000-4000-8000-00000000a092/Tool9Results/aB3",
		"a/b/3f2c9a7b5e1d4c8f6a0b9d8e7c6f5a4b3c2d1e0f/C4/Dir",
		"src/main/java/com/Example/FooBar2/HandlerImplV3Factory/Deep/Deeper/Deepest.java",
		"TestHandoverReceiptV2KeepsSeatGeneration12WhenCrashAt3AndMore",
		"golang.org/x/sys v0.50.0 h1:0vR4Wm9WqzXk3Yj8cQpLr7tNfBsHdGaEeUiOoPpAa1B=",
		`"integrity": "sha512-Zl2P5yq6mFq3c9t1dW8xJ7kLr4sVbNgQeRtYuIoPaSdFgHjKlZxCvBnM1234567890abcd=="`,
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExample0123456789abc op@host",
		"the password is asked for at the prompt", "the password is required", "--password is a flag", "the --token flag", "rig x --token-stdin --reason why",
		"docker run -p 8080:8080 -u 1000:1000 app1", "mkdir -p build/out2", "curl -u op https://h.example/", "ls -a v1.2.3dir", "mysql -p3306 shop", "mysql -p shop",
		"the login form password field is", "the user wrote password 'is it set' here", "identified by the id x1234567", "a machine account password rotation",
		"mysql x\nssh -pHunter22 h", "tests_passed: 1234567", "pass_rate: 0.987654321", "cookie: chocolate chip", "Cookie: none", "the token is being refreshed",
		"the secret is in vault", "--secret $SECRET_NAME1", "key-value stores", "key-" + strings.Repeat("a", 8), "12:AAA", "a token is needed for step2", "see ?sig=1&x", "token count: 1200", "tokens: 123456",
		"password: string", "token = getToken()", "secret: process.env.SECRET_1", "password=$PASSWORD1",
		"tokenizer: bert-base-uncased-v2", "secretary: Miller99 and Sons",
		"sk-learn-experiments-long-name", "risk-assessment-for-2024-project",
		"bearer of bad news from headquarters", "authorization: pending",
		"http://localhost:4873/@scope/pkg", "https://op:@example.invalid/x", "git@github.com:org/repo.git", "user@example.invalid",
		"https://op@example.invalid/x", "ghp_short", "AKIAN", "eyJust kidding. Really.",
		"-----BEGIN PUBLIC KEY-----\nRVhBTVBMRQ==\n-----END PUBLIC KEY-----",
		"use ****** or <your-token-here-1234>", "api_key=your_api_key_12345", Marker, "password=" + Marker,
		"", "a", "ab", "abc",
	} {
		if got, counts := Redact(text); got != text || counts != nil {
			t.Errorf("%q became %q (%v)", text, got, counts)
		}
	}
}

// However a secret is cut, no more than its first few characters stay.
func TestSecretsAcrossACut(t *testing.T) {
	for secret, kind := range made() {
		if kind == "opaque_key" {
			continue // without a beginning to know it by, a piece of it is noise
		}
		text := "some words " + secret
		lead := len("some words ") + 14
		for cut := lead; cut < len(text); cut++ {
			got, _ := redact(text[:cut], true)
			if !strings.HasSuffix(got, Marker) || strings.Contains(got, ex[:8]) {
				t.Errorf("%s cut at %d: %q became %q", kind, cut, text[:cut], got)
				break
			}
		}
	}
	for text, want := range map[string]string{
		"Authorization: Bearer EXAMP":                      "Authorization: Bearer " + Marker,
		"password=hunt":                                    "password=hunt",
		"postgres://op:EXAMPLEpasswo":                      "postgres://op:" + Marker,
		"-----BEGIN PRIVATE KEY-----\nRVhBTVBMRWV4YW1wbGV": Marker,
		"nothing to hide":                                  "nothing to hide",
	} {
		if got, _ := redact(text, true); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A path does not shelter what stands in it: a long key is one as a segment too,
// and a key with slashes of its own is no path.
func TestKeysAmongPathsAreRedacted(t *testing.T) {
	const key = "q7Zk2Vn9XbT4mLr8Wd1Hs6Pf3Gy5Jc0QaUeRtYiO"
	for _, text := range []string{
		"/srv/store/keys/%/x", "%", "wJ9lrXUtnF3MI/K7MD3NG/bPxRfiCY3XAMPL3K3Yw9Zq", "q7Zk2Vn9X/T4mLr8Wd1Hs6Pf3Gy5Jc/QaUeRtYiO42Lk",
	} {
		in := strings.ReplaceAll(text, "%", key)
		got, counts := Redact(in)
		if counts.Total() != 1 || strings.Contains(got, key[:20]) || strings.Contains(got, "K7MD3NG") {
			t.Errorf("%q became %q (%v)", in, got, counts)
		}
	}
	if got, _ := Redact("/srv/store/keys/" + key + "/x"); got != "/srv/store/keys/"+Marker+"/x" {
		t.Errorf("the path around the key: %q", got)
	}
}

func TestPrivateKeyWithoutItsEnd(t *testing.T) {
	text := "key:\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nRVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZQ==\nRVhBTVBMRWV4YW1wbGVF\n\nThat was the key."
	got, _ := Redact(text)
	if got != "key:\n"+Marker+"That was the key." {
		t.Errorf("%q", got)
	}
}

func TestB93SecretsInMessages(t *testing.T) {
	var all strings.Builder
	affected := 0
	_, err := transcript.ReadFile("../../testdata/cases/B93-secrets.jsonl", transcript.RuntimeClaude, transcript.Options{}, func(m transcript.Message) {
		s, counts := Redact(m.Text)
		if counts.Total() > 0 {
			affected++
		}
		all.WriteString(s + "\n")
	})
	if err != nil {
		t.Fatal(err)
	}
	got := all.String()
	for _, word := range []string{"Use ", " for the test.", "Found ", " and ", " in the log.", "Connection string is postgres://op:", "Also ", "3f2c9a7b5e1d4c8f6a0b9d8e7c6f5a4b3c2d1e0f", "/home/op/project/packages/daemon/source/domain/restore/planner.go"} {
		if !strings.Contains(got, word) {
			t.Errorf("%q is gone from:\n%s", word, got)
		}
	}
	if strings.Contains(got, "EXAMPLE") || strings.Contains(got, "RVhBTVBM") {
		t.Errorf("a secret survived:\n%s", got)
	}
	if affected != 4 { // all but the tool result, which is no message
		t.Errorf("%d messages affected, want 4", affected)
	}
}

func FuzzRedact(f *testing.F) {
	for secret := range made() {
		f.Add("x "+secret+" y", false)
	}
	f.Add("password='", true)
	f.Fuzz(func(t *testing.T, s string, cut bool) {
		got, counts := redact(s, cut)
		if (counts == nil) != (got == s) && !strings.Contains(s, Marker) {
			t.Fatalf("%q became %q with %v", s, got, counts)
		}
		again, more := Redact(got)
		if !cut && again != got {
			t.Fatalf("not stable: %q, %q, %q (%v)", s, got, again, more)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	raw, err := os.ReadFile("../../testdata/fixtures/codex-rollout.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(raw), 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}

// Texts made to be slow: were any rule to walk the same bytes for each of its
// beginnings, this test would run for minutes.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	const size = 512 << 10
	for _, unit := range []string{
		"eyJ-", "eyJaaaaaaaaaa.", "sk-", "sk-a-", "token-", "token_", "password:", "password:'", `password:"`, "secret: ",
		"://", "a://b:", "://:@", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----a ", "AKIA", "AKIA-",
		"authorization:", "authorization=", "bearer ", "bearer\t", "gh" + "p_", "SG.", "hooks.slack.com/services/", `\"`, "A1b/", "/", "aB3",
	} {
		text := strings.Repeat(unit, size/len(unit))
		got, _ := Redact(text)
		again, _ := Redact(got)
		if again != got {
			t.Errorf("%q is not stable", unit)
		}
		if _, counts := redact(text, true); counts.Total() > size {
			t.Errorf("%q: %v", unit, counts)
		}
	}
}
