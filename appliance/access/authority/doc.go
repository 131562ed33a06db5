// Package authority makes the certificates of the embedded NATS server: an authority
// of its own, which signs nothing else, and the server's certificate.
//
// It owns the folder tls below the data folder. It opens no connection. Start reading
// at Open.
package authority
