// Command figures prints how long, how commented and how tested the source is,
// beside what the project aims at.
//
// It reads every Go file that git knows or would add, leaves generated ones out
// and judges nothing: tests about the source are in appliance/sourcecheck. Start
// reading at collect in figures.go.
package main
