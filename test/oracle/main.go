// Oracle answers what Karpenter, the Go implementation, would decide in a given situation.
//
// It reads a scenario (Kubernetes objects in YAML or JSON, any number of files) and a catalogue of
// instance types, asks the real scheduler or the real disruption methods once, and prints the decision
// as JSON. See README.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/samber/lo"

	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"
)

const usage = `usage: oracle [schedule|disrupt|expand|hash] [flags] scenario.yaml…   ('-' reads standard input)
       oracle batch [flags]   one question per line of standard input, one line of answers each
  schedule  where would pending pods go? (the default)
  disrupt   what would each disruption method command now?
  expand    print the objects with every default filled in
  hash      print the drift hash of each NodePool as it is written
`

var commands = []string{"schedule", "disrupt", "expand", "hash"}

// Settings are the flags. Their names follow Karpenter's own where it has one.
type Settings struct {
	Catalogue   string
	Preferences string
	MinValues   string
	SpotToSpot  bool
	Concurrency int
	Now         time.Time
	Nominated   string
	Repeat      int
	TotalsOnly  bool
}

func main() {
	command, args := "schedule", os.Args[1:]
	if len(args) > 0 && slices.Contains(commands, args[0]) {
		command, args = args[0], args[1:]
	}
	batch := len(args) > 0 && args[0] == "batch"
	settings, files, err := parseFlags(lo.Ternary(batch, lo.Drop(args, 1), args))
	if err == nil && len(files) == 0 && !batch {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err == nil && batch {
		err = printBatch(settings)
	} else if err == nil {
		err = printAnswers(command, settings, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (Settings, []string, error) {
	s := Settings{}
	flags := flag.NewFlagSet("oracle", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage); flags.PrintDefaults() }
	flags.StringVar(&s.Catalogue, "instance-types", "kwok", "'kwok' (the built-in 144), 'fake:N' (the scheduling benchmark's catalogue), or a file in the KWOK format")
	flags.StringVar(&s.Preferences, "preferences", "Respect", "Respect or Ignore")
	flags.StringVar(&s.MinValues, "min-values", "Strict", "Strict or BestEffort")
	flags.BoolVar(&s.SpotToSpot, "spot-to-spot", false, "feature gate SpotToSpotConsolidation")
	flags.IntVar(&s.Concurrency, "concurrency", 1, "candidates evaluated at a time; Karpenter's default is 1; 0: one per core")
	flags.StringVar(&s.Nominated, "nominated", "", "disrupt: comma-separated nodes that a provisioning pass has just nominated for a pod")
	flags.IntVar(&s.Repeat, "repeat", 1, "answer that many times, one JSON document per line; shows what is left to chance")
	flags.BoolVar(&s.TotalsOnly, "totals", false, "schedule: print the totals only")
	now := flags.String("now", "2026-01-15T12:00:00Z", "the time, RFC 3339")
	if err := flags.Parse(args); err != nil {
		return s, nil, err
	}
	var err error
	s.Now, err = time.Parse(time.RFC3339, *now)
	return s, flags.Args(), err
}

// printAnswers prints one JSON document, or one per line with -repeat.
func printAnswers(command string, settings Settings, files []string) error {
	ctx := withOptions(context.Background(), settings)
	instanceTypes, err := loadCatalogue(ctx, settings.Catalogue)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if settings.Repeat == 1 {
		encoder.SetIndent("", "  ")
	}
	for range settings.Repeat {
		document, err := answer(ctx, command, settings, files, instanceTypes)
		if err != nil {
			return err
		}
		if err := encoder.Encode(document); err != nil {
			return err
		}
	}
	return nil
}

// withOptions puts the operator's options where Karpenter looks for them, which is the context.
func withOptions(ctx context.Context, settings Settings) context.Context {
	return options.ToContext(injection.WithControllerName(ctx, "oracle"), test.Options(test.OptionsFields{
		PreferencePolicy: lo.ToPtr(options.PreferencePolicy(settings.Preferences)),
		MinValuesPolicy:  lo.ToPtr(options.MinValuesPolicy(settings.MinValues)),
		FeatureGates: test.FeatureGates{
			NodeOverlay:             lo.ToPtr(true),
			ReservedCapacity:        lo.ToPtr(true),
			SpotToSpotConsolidation: lo.ToPtr(settings.SpotToSpot),
			StaticCapacity:          lo.ToPtr(true),
		},
	}))
}

// answer reads the files and builds the cluster anew for each answer, because an answer may depend on the
// iteration order of a map.
func answer(ctx context.Context, command string, settings Settings, files []string, instanceTypes []*cloudprovider.InstanceType) (any, error) {
	objects, err := loadObjects(files)
	if err != nil {
		return nil, err
	}
	if command == "hash" {
		return hashes(objects), nil
	}
	objects = withDefaults(objects, instanceTypes, settings.Now)
	if command == "expand" {
		return map[string]any{"apiVersion": "v1", "kind": "List", "items": withKinds(objects)}, nil
	}
	env, err := newEnvironment(ctx, settings, objects, instanceTypes)
	if err != nil {
		return nil, err
	}
	if command == "disrupt" {
		return disrupt(ctx, env, settings)
	}
	decision, err := schedule(ctx, env, settings)
	if err == nil && settings.TotalsOnly {
		return decision.Totals, nil
	}
	return decision, err
}
