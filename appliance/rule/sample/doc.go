// Package sample turns what a check measured into samples of time series: a name,
// labels, a value and an instant.
//
// It owns how perfdata is mapped: names by templates, labels, units scaled to base
// units or left alone, thresholds and limits as series of their own. What is no
// number is left out and named with its reason. It never knows a protocol: what a
// name may hold is said by the charset that a Mapping asks for. Start reading at
// Mapping and Mapper.
package sample
