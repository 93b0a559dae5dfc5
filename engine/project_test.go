package engine

import "testing"

func TestProjectsAreChosenAndNeverGuessed(t *testing.T) {
	p := func(id, root string, rigs ...string) Project { return Project{ID: id, Root: root, Rigs: rigs} }
	shop, pay, docs, in := p("shop", "/w/shop", "shop"), p("pay", "/w/pay", "pay"), p("docs", "/w/docs"), p("inner", "/w/shop/inner")
	for name, tt := range map[string]struct {
		all  []Project
		id   string
		at   Position
		want string
		by   string
		code Code
	}{
		"by name":           {[]Project{shop, pay}, "pay", Position{Rig: "shop"}, "pay", "flag", ""},
		"unknown name":      {[]Project{shop, pay}, "pey", Position{}, "", "", CodeNotFound},
		"the only one":      {[]Project{pay}, "", Position{Rig: "shop", Cwd: "/elsewhere"}, "pay", "only_project", ""},
		"claims the rig":    {[]Project{shop, pay, docs}, "", Position{Rig: "pay", Cwd: "/w/shop"}, "pay", "rig_claim", ""},
		"deepest root":      {[]Project{shop, docs, in}, "", Position{Rig: "x", Cwd: "/w/shop/inner/a"}, "inner", "deepest_root", ""},
		"no prefix of name": {[]Project{shop, pay, p("sho", "/w/sho")}, "", Position{Cwd: "/w/shop"}, "shop", "deepest_root", ""},
		"only unclaimed":    {[]Project{shop, pay, docs}, "", Position{Rig: "x", Cwd: "/tmp"}, "docs", "only_unclaimed", ""},
		"two claim the rig": {[]Project{shop, p("s2", "/w/s2", "shop"), pay}, "", Position{Rig: "shop", Cwd: "/tmp"}, "", "", CodeProjectRequired},
		"two unclaimed":     {[]Project{docs, p("d2", "/w/d2")}, "", Position{Cwd: "/tmp"}, "", "", CodeProjectRequired},
		"none":              {nil, "", Position{Cwd: "/tmp"}, "", "", CodeNotFound},
	} {
		at := tt.at
		got, err := SelectProject(tt.all, tt.id, &at)
		if got.ID != tt.want || at.SelectedBy != tt.by || CodeOf(err) != tt.code {
			t.Errorf("%s: %q by %q, %v", name, got.ID, at.SelectedBy, err)
		}
	}
}
