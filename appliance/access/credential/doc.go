// Package credential reads and writes the file with which a process proves to a
// NATS server who it is: one made by "jaque credentials", which holds the seed of a
// key, what the key is for and the authority of the server's certificate, or one of
// NATS' own tools, which holds a JWT and a seed.
//
// It never prints a seed and asks no server. Start reading at Read and Credentials.
package credential
