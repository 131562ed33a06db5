// Package coordination is where engines announce themselves and learn who else
// lives: the store behind the membership view.
//
// It owns the view record of one bucket and its changes. It never decides who
// owns an object; that arithmetic is appliance/rule/membership. Start reading at
// Memory, the store of a single process.
package coordination
