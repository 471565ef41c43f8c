package acme

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// bridge returns a zap logger for certmagic that writes to log. Certmagic's messages get the
// level debug. Its errors get the level warn, since each is about one try of several. After
// the context ending is done they get debug too: those errors come from Close.
func bridge(ending context.Context, log *slog.Logger) *zap.Logger {
	return zap.New(&core{ending: ending, log: log})
}

// core is a zapcore.Core that writes to a slog.Logger.
type core struct {
	ending context.Context
	log    *slog.Logger
}

func (c *core) level(l zapcore.Level) slog.Level {
	if l >= zapcore.ErrorLevel && c.ending.Err() == nil {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled implements zapcore.LevelEnabler.
func (c *core) Enabled(l zapcore.Level) bool {
	return c.log.Enabled(context.Background(), c.level(l))
}

// With implements zapcore.Core.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{ending: c.ending, log: slog.New(c.log.Handler().WithAttrs(attributes(fields)))}
}

// Check implements zapcore.Core.
func (c *core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write implements zapcore.Core.
func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	text := slog.String("message", e.Message)
	c.log.LogAttrs(context.Background(), c.level(e.Level), "certmagic", append(attributes(fields), text)...)
	return nil
}

// Sync implements zapcore.Core.
func (c *core) Sync() error { return nil }

// attributes returns the fields as slog attributes, with the values that zap would write.
func attributes(fields []zapcore.Field) []slog.Attr {
	out := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		values := zapcore.NewMapObjectEncoder()
		f.AddTo(values)
		for key, value := range values.Fields {
			out = append(out, slog.Any(key, value))
		}
	}
	return out
}
