// Package perfdata reads the performance data of plugins: metrics with a label,
// a value and a unit, and optionally the ranges and limits that belong to it.
//
// It reads what is there and adds nothing: no unit is scaled, no limit is made
// up. A metric that is wrong is reported and skipped; the good ones around it
// stay. Start reading at Parse.
package perfdata
