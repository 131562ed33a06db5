package schema

import "embed"

// Files holds the CUE files of the schema. They form one package whose
// definition #Config is unified with the operator's package.
//
//go:embed *.cue
var Files embed.FS
