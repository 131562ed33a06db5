// Package coordination is where the members of a fleet (engines, sinks,
// notifiers) announce themselves and learn who else lives: the store behind the
// membership view.
//
// It owns heartbeats and the view record of one bucket, and the rule that a
// member whose heartbeats have failed for a whole TTL ends. It never decides who
// owns an object; that arithmetic is appliance/rule/membership. Start reading at
// Store; Memory is the one of a single process, JetStream that of a fleet.
package coordination
