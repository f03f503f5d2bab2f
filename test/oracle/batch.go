package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// Question is one line of the input of `oracle batch`: a scenario with its settings.
type Question struct {
	Command     string          `json:"command"` // schedule (the default) or disrupt
	Objects     []any           `json:"objects"`
	Catalogue   json.RawMessage `json:"catalogue"` // a name as -instance-types takes it, or a list in the KWOK format
	Preferences string          `json:"preferences"`
	MinValues   string          `json:"minValues"`
	SpotToSpot  bool            `json:"spotToSpot"`
	Nominated   string          `json:"nominated"`
	Now         *time.Time      `json:"now"`
	Repeat      int             `json:"repeat"`
}

// Answers is one line of its output: the distinct decisions, or why there is none.
type Answers struct {
	Answers []json.RawMessage `json:"answers,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// placeholder is the hostname of a planned node. Its number counts attempts, which means nothing.
var placeholder = regexp.MustCompile(`hostname-placeholder-\d+`)

// printBatch answers one question a line, so that thousands of small scenarios need one process.
func printBatch(settings Settings) error {
	wellKnown := v1.WellKnownLabels.Clone()
	reserved := cloudprovider.ReservedCapacityLabels.Clone()
	reservationLabel := cloudprovider.ReservationIDLabel
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			// Each catalogue makes the labels of its offerings well-known, and they must not stay so for the next.
			v1.WellKnownLabels = wellKnown.Clone()
			cloudprovider.ReservedCapacityLabels = reserved.Clone()
			cloudprovider.ReservationIDLabel = reservationLabel
			if err := encoder.Encode(answerQuestion(settings, line)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func answerQuestion(settings Settings, line []byte) (answers Answers) {
	defer func() {
		if problem := recover(); problem != nil {
			answers = Answers{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	question := Question{Repeat: 1}
	if err := json.Unmarshal(line, &question); err != nil {
		return Answers{Error: err.Error()}
	}
	settings.Preferences = lo.CoalesceOrEmpty(question.Preferences, settings.Preferences)
	settings.MinValues = lo.CoalesceOrEmpty(question.MinValues, settings.MinValues)
	settings.SpotToSpot = settings.SpotToSpot || question.SpotToSpot
	settings.Nominated = lo.CoalesceOrEmpty(question.Nominated, settings.Nominated)
	settings.Now = lo.FromPtrOr(question.Now, settings.Now)
	ctx := withOptions(context.Background(), settings)
	instanceTypes, err := loadQuestionCatalogue(ctx, question.Catalogue)
	if err != nil {
		return Answers{Error: err.Error()}
	}
	seen := map[string]bool{}
	for range question.Repeat {
		text, err := answerOnce(ctx, settings, question, instanceTypes)
		if err != nil {
			return Answers{Error: err.Error()}
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			answers.Answers = append(answers.Answers, text)
		}
	}
	return answers
}

// answerOnce returns a decision without what is measured.
func answerOnce(ctx context.Context, settings Settings, question Question, instanceTypes []*cloudprovider.InstanceType) ([]byte, error) {
	objects, err := decodeAll(question.Objects)
	if err != nil {
		return nil, err
	}
	objects = withDefaults(expandDeployments(objects), instanceTypes, settings.Now)
	env, err := newEnvironment(ctx, settings, objects, instanceTypes)
	if err != nil {
		return nil, err
	}
	decision, err := decide(ctx, env, settings, question.Command)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(decision)
	return placeholder.ReplaceAll(text, []byte("hostname-placeholder-N")), err
}

func decide(ctx context.Context, env *Environment, settings Settings, command string) (any, error) {
	if command == "disrupt" {
		decision, err := disrupt(ctx, env, settings)
		if err != nil {
			return nil, err
		}
		for i := range decision.Methods {
			decision.Methods[i].Ms = 0
		}
		return decision, nil
	}
	decision, err := schedule(ctx, env, settings)
	if err != nil {
		return nil, err
	}
	decision.Totals.Effort = Effort{}
	return decision, nil
}

// namedCatalogue is a catalogue that many questions name, with the labels it makes well-known.
type namedCatalogue struct {
	types     []*cloudprovider.InstanceType
	wellKnown sets.Set[string]
}

var namedCatalogues = map[string]namedCatalogue{}

func loadNamedCatalogue(ctx context.Context, name string) ([]*cloudprovider.InstanceType, error) {
	known, ok := namedCatalogues[name]
	if ok {
		if !strings.HasPrefix(name, "fake:") {
			useKwokLabels()
		}
		v1.WellKnownLabels = known.wellKnown.Clone()
		return known.types, nil
	}
	types, err := loadCatalogue(ctx, name)
	if err == nil {
		namedCatalogues[name] = namedCatalogue{types, v1.WellKnownLabels.Clone()}
	}
	return types, err
}

// loadQuestionCatalogue loads a catalogue by its name, or the list itself by way of a file.
func loadQuestionCatalogue(ctx context.Context, catalogue json.RawMessage) ([]*cloudprovider.InstanceType, error) {
	name := "kwok"
	if len(catalogue) == 0 || json.Unmarshal(catalogue, &name) == nil {
		return loadNamedCatalogue(ctx, name)
	}
	file, err := os.CreateTemp("", "oracle-catalogue-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(catalogue); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return loadCatalogue(ctx, file.Name())
}
