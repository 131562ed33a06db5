// Package config turns an operator's CUE package and inventories into one
// checked generation of objects, or into the list of everything that is wrong
// with it.
//
// It owns the reading of files, the expansion of rules over hosts and the words
// of every problem. It never changes anything, keeps no state between calls and
// holds no CUE value once Load has returned. The way of the data: files become
// neutral trees (source.go, csv.go, json.go, yaml.go), trees become declarations
// (decode.go, section_*.go), declarations become objects (expand.go), periods what
// they mean (section_period.go), and objects are made to depend on each other
// (depend.go). Policies become what each object tells whom (policies.go); jaque's own
// canary is added (canary.go), and a service for each zone of workers (zones.go). Start reading at Load.
package config
