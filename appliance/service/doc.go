// Package service runs the parts of a process: it starts them in the order of
// their needs, reports readiness, and stops them in reverse.
//
// It owns order, readiness and the rule that a part that ends by itself ends the
// process. It never knows what a part does. Start reading at Service and Run.
package service
