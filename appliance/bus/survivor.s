// This file lets a function without a body be one of the server, see survivor.go.
