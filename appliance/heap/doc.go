// Package heap keeps the memory that the garbage collector uses as headroom in
// proportion.
//
// By default Go lets the heap double before it collects, which is cheap for a
// small process and wastes as much as all states of 100,000 services in a large
// one. It owns the collector's percentage of one process and nothing else; it
// leaves the setting alone where an operator chose one. Start reading at Percent.
package heap
