package engine

import (
	"context"
	"strings"
	"time"
)

// Images is the library of agent images: folders on disk, read anew at every
// call. Errors are *Error; what an image holds of a native id never leaves it
// but as a ParentToken.
type Images interface {
	// Scan reads every root. A broken image is a fault beside the others.
	Scan(ctx context.Context) (ImageScan, error)
	// CheckFiles says what is wrong with the texts that a new image would keep;
	// they are only read.
	CheckFiles(files []ImageFile) []error
	// Write makes a new image, whole or not at all, in the library's own root.
	// CodeImageExists when name and version are taken.
	Write(ctx context.Context, n NewImage) (Image, error)
	// Withdraw removes what an operation has written, half or whole.
	Withdraw(ctx context.Context, opID string) error
	// SetAside takes an image out of sight for an operation, PutBack reverses
	// that, and Discard removes for good what the operation has set aside. A
	// link is moved and removed itself; what it points to is never touched.
	SetAside(ctx context.Context, opID string, at ImageRef) error
	PutBack(ctx context.Context, opID string, at ImageRef) error
	Discard(ctx context.Context, opID string, at ImageRef) error
	// IsAside says whether the operation has set the image aside.
	IsAside(opID string, at ImageRef) bool
	// SetPin pins an image at a time; the zero time unpins it.
	SetPin(ctx context.Context, at ImageRef, when time.Time) error
	// CountFork adds one to the forks of an image and notes when.
	CountFork(ctx context.Context, at ImageRef, when time.Time) error
	// References finds what the specs on the discovery roots, and on the given
	// files and folders, say about images.
	References(ctx context.Context, more []string) (ImageReferences, error)
}

// Codes of the image library.
const (
	CodeImageName      Code = "image_name_invalid"
	CodeImageNotFound  Code = "image_not_found"
	CodeImageExists    Code = "image_exists"
	CodeImageAmbiguous Code = "image_ambiguous"
	CodeImageInvalid   Code = "manifest_invalid"
	CodeImagePinned    Code = "image_pinned"
	CodeImageInUse     Code = "image_referenced"
)

// ImageRef says where an image is: which root of the library, name and version.
// A link in place of a name's folder has no version.
type ImageRef struct {
	Root    string `json:"root"` // home or workspace
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Image is a conversation that was kept as a starting point for new seats. Its
// printed forms redact the native id.
type Image struct {
	ImageRef
	ID              string       `json:"id"` // agent-image:<name>:<version>
	Dir             string       `json:"path"`
	Runtime         RuntimeName  `json:"runtime"`
	SourceSeat      string       `json:"source_seat"` // seat and generation
	Parent          ParentToken  `json:"source_resume_token"`
	SourceCwd       string       `json:"source_cwd,omitempty"`
	Homes           Homes        `json:"-"` // where the client kept the conversation
	Model           string       `json:"model,omitempty"`
	Effort          string       `json:"effort,omitempty"`
	CreatedAt       time.Time    `json:"created_at"`
	CreatedBy       string       `json:"created_by,omitempty"`
	Operation       string       `json:"operation,omitempty"` // that made it
	Notes           string       `json:"notes,omitempty"`
	EstimatedTokens int64        `json:"estimated_tokens"` // of its conversation; 0 = not known
	Lineage         []string     `json:"lineage"`          // names or ids of the images it descends from
	Files           []ImageFile  `json:"files"`
	Capture         ImageCapture `json:"capture"`
	Pinned          bool         `json:"pinned"`
	PinnedAt        time.Time    `json:"pinned_at,omitzero"`
	Stats           ImageStats   `json:"stats"`
	Digest          string       `json:"digest"`             // of the manifest
	Link            bool         `json:"link,omitempty"`     // a symbolic link stands in its place; it is not followed
	Shadowed        bool         `json:"shadowed,omitempty"` // a later root has the same id
}

// Called is how texts name an image.
func (i Image) Called() string {
	if i.Link {
		return "the link " + strings.TrimSuffix(i.Name+" v"+i.Version, " v")
	}
	return "agent image " + i.Name + " v" + i.Version
}

// ImageFile is a supplementary file of an image.
type ImageFile struct {
	Path    string `json:"path"` // relative to the image's folder
	Role    string `json:"role"`
	Summary string `json:"summary,omitempty"`
	Bytes   int64  `json:"bytes"` // -1 = not there
	From    string `json:"-"`     // where a new image copies it from
}

// ImageCapture is how far the source had come when the image was made.
type ImageCapture struct {
	Length   int64  `json:"transcript_length"`         // bytes
	LastUUID string `json:"transcript_last,omitempty"` // id, ordinal or digest of the last record
}

// ImageStats is what became of an image.
type ImageStats struct {
	ForkCount  int64     `json:"fork_count"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	SizeBytes  int64     `json:"size_bytes"` // of its folder
}

// ImageFault is something in the library that cannot be used.
type ImageFault struct {
	ImageRef
	Source string `json:"source"` // path
	Code   Code   `json:"code"`
	Error  string `json:"error"`
	Text   string `json:"-"` // what could be read of its manifest
}

// ImageRoot is one folder of the library.
type ImageRoot struct {
	Label  string `json:"root"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// ImageScan is the whole library at one moment, by name, version and root.
type ImageScan struct {
	Images []Image      `json:"images"`
	Faults []ImageFault `json:"errors"`
	Roots  []ImageRoot  `json:"roots"`
}

// NewImage is an image to be written.
type NewImage struct {
	Image
	Pin bool
}

// ImageReference is one mention of an image in a spec. Without a version it
// means every version of the name.
type ImageReference struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	File    string `json:"file"`
	Agent   bool   `json:"agent,omitempty"` // in an agent spec
}

// UnreadSpec is a spec whose references cannot be told. Text is what could be
// read; without any it counts as a reference to every image.
type UnreadSpec struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Text string `json:"-"`
}

// ImageReferences is what the specs say about images.
type ImageReferences struct {
	Found  []ImageReference `json:"references"`
	Unread []UnreadSpec     `json:"unread"`
	Roots  []string         `json:"roots"` // where was looked
	Files  int              `json:"files"` // how many specs were read
}

// MaxImageName is the longest name or version of an image, in bytes.
const MaxImageName = 64

// CheckImageName refuses a name or version that could leave the library, hide in
// it, or be read as something else. what is "name" or "version".
func CheckImageName(what, text string) error {
	var why string
	switch {
	case text == "":
		why = "it is empty"
	case len(text) > MaxImageName:
		why = "it has " + itoa(int64(len(text))) + " bytes"
	case !plainName(text):
		why = "it has other characters, or begins with one that is neither a letter nor a digit"
	default:
		return nil
	}
	return Errorf(CodeImageName, "this cannot be the %s of an agent image: %s", what, why).
		WithHint("letters A to Z, digits, dot, dash and underscore, at most %d, a letter or digit first", MaxImageName)
}

// plainName reports whether a text is letters, digits, dots, dashes and
// underscores, the first of them a letter or digit. It is written out because a
// compiled pattern would cost every start of the program.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		word := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !word && (i == 0 || c != '.' && c != '-' && c != '_') {
			return false
		}
	}
	return s != ""
}

// ImageID is the id of an image.
func ImageID(name, version string) string { return "agent-image:" + name + ":" + version }

// FindImage finds one image by name, by name:version or by id. A name with
// several versions is CodeImageAmbiguous.
func (s ImageScan) FindImage(ref string) (Image, error) {
	name, version, exact := strings.TrimPrefix(ref, "agent-image:"), "", false
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name, version, exact = name[:i], name[i+1:], true
	}
	var found []Image
	for _, i := range s.Images {
		if i.Name == name && (!exact || i.Version == version) && !i.Shadowed {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Image{}, s.notFound(ref, name)
	}
	ids := make([]string, len(found))
	for i, x := range found {
		ids[i] = x.ID
	}
	return Image{}, Errorf(CodeImageAmbiguous, "%q has %d versions", name, len(found)).On("agent-image", ref).
		WithHint("name one of %s", strings.Join(ids, ", ")).With("candidates", ids)
}

func (s ImageScan) notFound(ref, name string) error {
	for _, f := range s.Faults {
		if f.Name == name && name != "" {
			return Errorf(f.Code, "the image cannot be read: %s", f.Error).On("agent-image", ref).
				WithHint("correct or remove %s", f.Source)
		}
	}
	if err := CheckImageName("name", name); err != nil {
		return err
	}
	return Errorf(CodeImageNotFound, "no agent image %q", ref).On("agent-image", ref).
		WithHint("`rig agent-image list` shows what is there")
}
