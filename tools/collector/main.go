// Collector is the OTLP receiver of the OpenTelemetry collector, by itself: it prints what spans come by
// HTTP, a line of base64 for each request, which has it in OTLP's own form. It
// is for tests, which run it as a program: its dependencies are nobody else's.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: collector ADDRESS")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// run receives at address until ctx ends.
func run(ctx context.Context, address string) error {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	given := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := given.Unmarshal(config); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	out, err := consumer.NewTraces(printer())
	if err != nil {
		return err
	}
	settings := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings(), BuildInfo: component.NewDefaultBuildInfo()}
	r, err := factory.CreateTraces(ctx, settings, config, out)
	if err != nil {
		return err
	}
	if err := r.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	<-ctx.Done()
	return r.Shutdown(context.WithoutCancel(ctx))
}

// printer writes each request to standard output.
func printer() consumer.ConsumeTracesFunc {
	var mu sync.Mutex
	var form ptrace.ProtoMarshaler
	return func(_ context.Context, traces ptrace.Traces) error {
		request, err := form.MarshalTraces(traces)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		_, err = fmt.Println(base64.StdEncoding.EncodeToString(request))
		return err
	}
}
