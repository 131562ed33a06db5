// Package delivery brings the requests that stand on the log to the people.
//
// It owns when a message is sent and what becomes of each request: the messages
// that package deliver plans are sent over channels, a bounded number at once, and
// every request gets its outcome on the log. A request is sent at most once by one
// process as long as its channel says what became of the message; one that may have
// been sent before is marked as a repetition. Nothing is forgotten: what has no
// outcome is open, and the next process goes on with it.
//
// It never decides who is told what, which is package notify's, never says what
// stands in a message, which is package message's, and knows no channel. One
// goroutine owns everything but the sends. Start reading at Options and
// Delivery.run.
package delivery
