// Package forward takes commands for objects of another engine to that engine, and
// what became of them back.
//
// It owns the messages between engines, their one subject for each engine, and that the
// commands of one object are carried out in the order in which they were sent. What
// waits for one engine goes in one message, and each answer comes as soon as it is
// known. A message says that it is the first hop, and no other is carried out, so that
// no command goes round whatever the engines think of who owns what. Nothing is kept or
// sent again: a command that is lost on the way is an error to whoever waits for it.
// It never decides who owns an object. Start reading at Client and Server.
package forward
