// Package web serves the dashboard, the HTTP API, metrics and health of a
// process from its projection and its event log.
//
// It owns routes, the checks of who may write, and the streams to browsers. It
// never publishes an event itself (a Commander does) and does not know which
// role mounts it. API routes answer errors as problem+json, pages as pages.
// Forms of commands have one address and become what the API is told: see form.go.
// Start reading at Options, New and routes.
package web
