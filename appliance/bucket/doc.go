// Package bucket reads and writes the keys of a bucket on the log server, and tells what
// a process of jaque wrote there from what the server itself has stored: whoever may ask
// the server for anything names the subject of the answer, and that may be a key.
//
// It owns the marks by which an entry is recognised. It never makes or changes a bucket,
// which is appliance/bus, and knows nothing of what stands in one. Start reading at
// Bucket; Delivered judges messages of the other streams.
package bucket
