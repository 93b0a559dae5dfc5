package engine

import "context"

// ImageConsole is what the screens ask about agent images and sources of forks.
// All of it reads, and nothing else.
type ImageConsole interface {
	// Images reads the library, the discovery roots and the record anew.
	Images(ctx context.Context) (ImageLibrary, error)
	// LookAtImage says how the source of an image stands now, and gives the spec
	// that starts a seat from it.
	LookAtImage(ctx context.Context, v ImageView) ImagePreview
	// ForkOffers lists what a fork can start from, and what cannot, with why.
	ForkOffers(ctx context.Context) ([]ForkOffer, error)
}

// Images implements ImageConsole.
func (l *Local) Images(ctx context.Context) (ImageLibrary, error) { return l.e.Images(ctx) }

// LookAtImage implements ImageConsole.
func (l *Local) LookAtImage(ctx context.Context, v ImageView) ImagePreview {
	return l.e.LookAtImage(ctx, v)
}

// ForkOffers implements ImageConsole.
func (l *Local) ForkOffers(ctx context.Context) ([]ForkOffer, error) { return l.e.ForkOffers(ctx) }
