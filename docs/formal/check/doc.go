// Command check runs the configurations of docs/formal and compares what comes
// out with the verdict that each one declares in its first line.
//
// It runs TLC, whose jar the environment variable TLC_JAR names, or the search of
// its own in package tla. It never fetches anything and leaves no file behind.
// Start reading at main.
package main
