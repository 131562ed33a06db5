// Package channel brings one message to one contact: by mail, over Telegram, a
// webhook, a chat or on-call service, or a command.
//
// It owns how each service is spoken to, what of an answer means that trying again
// is of no use, and that no address or token which is a secret ever stands in an
// error. It never decides who is told, never tries twice and never groups: that is
// what package delivery does. Start reading at Channel and Error.
package channel
