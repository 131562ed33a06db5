// Package object describes what jaque watches: hosts and services as the
// configuration declares them, their identity, the checks they run and the
// program-wide settings that judge their results.
//
// It owns identities, the closed sets of states and the expanded object set of
// one configuration generation. It never holds anything that changes with time;
// that is package fold. Start reading at Object and Set.
package object
