package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// imagesScreen is the library of agent images: where each comes from, what
// protects it, what a fork of it starts from, and the spec that does so.
type imagesScreen struct {
	lookup
	list list
	lib  engine.ImageLibrary
	rows []imageRow
	loud bool // the reading was asked for: say what came of it

	look   imageLook
	inside bool   // the keys scroll what is known of the image
	seen   window // in that
}

// imageRow is an image, or something in the library that cannot be read.
type imageRow struct {
	key   string
	image *engine.ImageView
	fault *engine.ImageFault
}

// imageLook is a look at the source of one image.
type imageLook struct {
	key   string // of the row, with what it was read for
	asked int
	done  bool
	got   engine.ImagePreview
}

type (
	libraryMsg struct {
		id  int
		lib engine.ImageLibrary
		err error
	}
	imageLookMsg struct {
		id      int
		preview engine.ImagePreview
	}
)

func (s *imagesScreen) info() screenInfo { return infoOf(screenImages) }

func (m *Model) images() *imagesScreen {
	s, ok := m.screens[screenImages].(*imagesScreen)
	if !ok {
		return &imagesScreen{}
	}
	return s
}

// refresh reads the library when the screen is shown for the first time, and
// again after an operation that could have changed it: reading it walks the
// folders of specs, so it is not done for every picture.
func (s *imagesScreen) refresh(m *Model) tea.Cmd {
	s.filter(m)
	if m.cur != screenImages {
		return nil
	}
	mark := imagesMark(m)
	if !s.stale(mark) {
		return s.readLook(m)
	}
	s.mark = mark
	return tea.Batch(s.read(m), s.readLook(m))
}

// imagesMark sums up what of a picture concerns the library: what was done to it,
// and the seats that were started.
func imagesMark(m *Model) string {
	for _, e := range m.fleet.Recent {
		if strings.HasPrefix(e.Type, "image.") || strings.HasPrefix(e.Type, "rig.") || strings.HasPrefix(e.Type, "seat.") {
			return itoa(int(e.Seq))
		}
	}
	return ""
}

func (s *imagesScreen) read(m *Model) tea.Cmd {
	c, ctx, id := m.c, m.ctx, s.ask(m)
	return func() tea.Msg {
		lib, err := c.Images(ctx)
		return libraryMsg{id, lib, err}
	}
}

// readLook looks at the source of the image under the cursor, unless that was
// done since the library was read.
func (s *imagesScreen) readLook(m *Model) tea.Cmd {
	r := s.row()
	if r == nil || r.image == nil {
		return nil
	}
	key := r.key + "/" + itoa(s.asked)
	if s.look.key == key {
		return nil
	}
	s.look = imageLook{key: key, asked: m.next()}
	s.seen.top()
	c, ctx, id, v := m.c, m.ctx, s.look.asked, *r.image
	return func() tea.Msg { return imageLookMsg{id, c.LookAtImage(ctx, v)} }
}

func (s *imagesScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case libraryMsg:
		if _, good := s.answered(msg.id, msg.err); !good {
			return nil
		}
		s.lib = msg.lib
		if s.loud {
			s.loud = false
			return tea.Batch(s.refresh(m), m.say(toneText, false, "read: "+libraryWords(s.lib)))
		}
		return s.refresh(m)
	case imageLookMsg:
		if msg.id == s.look.asked {
			s.look.done, s.look.got = true, msg.preview
		}
	}
	return nil
}

// sync reads the library and the folders of specs anew and says what is there.
func (s *imagesScreen) sync(m *Model) tea.Cmd {
	s.loud = true
	return s.read(m)
}

func (s *imagesScreen) filter(m *Model) {
	s.rows = s.rows[:0]
	keys := []string{}
	filter := m.filters[screenImages]
	add := func(r imageRow, words ...string) {
		if filter == "" || matches(filter, words...) {
			s.rows = append(s.rows, r)
			keys = append(keys, r.key)
		}
	}
	for i := range s.lib.Images {
		v := &s.lib.Images[i]
		add(imageRow{key: v.Root + "/" + v.Name + "/" + v.Version, image: v}, v.ID, string(v.Runtime), v.SourceSeat, v.Notes, protectedWord(v))
	}
	for i := range s.lib.Faults {
		f := &s.lib.Faults[i]
		add(imageRow{key: "fault/" + f.Source, fault: f}, f.Name, f.Source, f.Error)
	}
	s.list.set(keys)
}

func (s *imagesScreen) row() *imageRow {
	if s.list.cursor < len(s.rows) {
		return &s.rows[s.list.cursor]
	}
	return nil
}

// sizes: the list needs little width, what is known of an image the rest.
func (s *imagesScreen) sizes(m *Model) areas {
	a := m.divide(min(len(s.rows), 8), false)
	if a.shape == shapeSplit {
		a.listW = max(m.w/2, 58)
		a.sideW = m.w - a.listW - 1
	}
	if a.sideW == 0 && s.inside {
		a.sideW, a.sideH, a.listH = a.listW, a.listH, 0
	}
	return a
}

func (s *imagesScreen) settle(m *Model) {
	a := s.sizes(m)
	s.list.settle(a.listH - 1 - s.aboutRows(a))
}

func (s *imagesScreen) move(m *Model, d move) tea.Cmd {
	if !s.inside {
		s.list.move(d)
		return s.readLook(m)
	}
	a := s.sizes(m)
	s.seen.move(d, s.detail(m, a.sideW-2), a.sideW-2, a.sideH-2)
	return nil
}

// subject: in the list a copy is the image's id, inside it is the spec that
// starts a seat from it.
func (s *imagesScreen) subject(*Model) subject {
	r := s.row()
	switch {
	case r == nil:
		return subject{}
	case r.image == nil:
		return subject{copy: r.fault.Source}
	case s.inside && s.look.done && s.look.got.Starter != "":
		return subject{image: r.image, copy: s.look.got.Starter}
	}
	return subject{image: r.image, copy: imageName(r.image)}
}

func (s *imagesScreen) panes(*Model) []string { return nil }

func (s *imagesScreen) at(m *Model, x, y int) click {
	a := s.sizes(m)
	row := s.list.top + y - 1
	if x >= a.listW || y < 1 || y >= a.listH-s.aboutRows(a) || row >= len(s.rows) {
		return clickNone
	}
	s.inside = s.inside && row == s.list.cursor // what it was inside of is not under the cursor any more
	return s.list.click(row)
}

// openImage gives the keys to what is known of the image and back.
func (m *Model) openImage() tea.Cmd {
	if s := m.images(); s.row() != nil {
		s.inside = !s.inside
		s.seen.top()
	}
	return nil
}

// imageWord says what that does now.
func (m *Model) imageWord() string {
	if m.images().inside {
		return "to the list"
	}
	return "look inside"
}

// whyNoLibrary says why the library cannot be read anew just now.
func (m *Model) whyNoLibrary() string {
	if m.images().busy {
		return "the library is being read"
	}
	return ""
}

// syncImages reads the library anew and shows it.
func (m *Model) syncImages() tea.Cmd {
	s := m.images()
	if m.cur != screenImages {
		s.loaded, s.loud = false, true // showing it reads it
		return m.show(screenImages)
	}
	return s.sync(m)
}
