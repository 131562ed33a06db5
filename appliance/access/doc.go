// Package access says what each role may do on a NATS server: which subjects its
// credentials may publish and subscribe, as one table, and who the users of the
// embedded server are.
//
// It owns the folder users below the data folder. It opens no connection and sees no
// seed; a file of credentials is appliance/access/credential. Start reading at Rights.
package access
