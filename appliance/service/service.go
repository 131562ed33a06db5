package service

import "context"

// Service is one part of a process.
type Service struct {
	// Name appears in /readyz, in logs and in the error that ends the process.
	Name string
	// Needs are the names of services that are ready before this one starts
	// and stop after it.
	Needs []string
	// Run blocks until ctx ends and then returns nil. It calls ready once, when
	// others may rely on it. Returning before ctx ends, even nil, means that
	// the part stopped by itself.
	Run func(ctx context.Context, ready func()) error
}
