//go:build !linux

package http1

import (
	"errors"

	"edgeproxy/internal/http/message"
)

// sender is for sockets of Linux.
type sender struct{}

func (c *conn) sendsFiles() bool { return false }

func (c *conn) sendFile(head []byte, _ message.File, _, _ int64, _ bool) (sent int64, headLeft []byte) {
	return 0, head
}

func (c *conn) sendBytes(b []byte) (left []byte) { return b }

func (c *conn) sendBoth(head, body []byte) (headLeft, bodyLeft []byte) { return head, body }

func readFile(message.File, []byte, int64) (int, error) { return 0, errors.ErrUnsupported }
