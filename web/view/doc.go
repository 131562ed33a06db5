// Package view holds the dashboard's screens as plain structs and the pure
// functions that fill them from objects, states and events.
//
// It owns every text, address, order and age that a page shows. It never reads
// a clock (now is an argument), looks anything up or writes HTML. Start reading
// at Home.
package view
