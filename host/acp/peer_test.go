package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	sdk "github.com/coder/acp-go-sdk"

	"eventdeck/host/trust"
)

// foreign is an agent on a library that others wrote.
type foreign struct {
	sdk.Agent // what is not below must not be called
	conn      *sdk.AgentSideConnection
	did       []string
}

func (f *foreign) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	f.did = append(f.did, fmt.Sprintf("initialize %d %v %v %s", p.ProtocolVersion, p.ClientCapabilities.Fs, p.ClientCapabilities.Terminal, p.ClientInfo.Name))
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: sdk.AgentCapabilities{LoadSession: true}, AgentInfo: &sdk.Implementation{Name: "foreign", Version: "1"}}, nil
}

func (f *foreign) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	s := p.McpServers[0].Stdio
	f.did = append(f.did, fmt.Sprintf("new %s %s %s %v %s=%s", p.Cwd, s.Name, s.Command, s.Args, s.Env[0].Name, s.Env[0].Value))
	return sdk.NewSessionResponse{SessionId: "s1"}, nil
}

func (f *foreign) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	f.did = append(f.did, "load "+string(p.SessionId))
	if p.SessionId != "s1" {
		return sdk.LoadSessionResponse{}, sdk.NewInvalidParams("unknown session")
	}
	err := f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s1", Update: sdk.UpdateAgentMessageText("of old")})
	return sdk.LoadSessionResponse{}, err
}

func (f *foreign) Cancel(_ context.Context, p sdk.CancelNotification) error {
	f.did = append(f.did, "cancel "+string(p.SessionId))
	return nil
}

func (f *foreign) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	f.did = append(f.did, "prompt "+p.Prompt[0].Text.Text)
	if p.Prompt[0].Text.Text == "wait" {
		if err := f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s1", Update: sdk.UpdateAgentMessageText("waiting")}); err != nil {
			return sdk.PromptResponse{}, err
		}
		<-ctx.Done()
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	_, err := f.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: "s1", Path: "/etc/passwd"})
	f.did = append(f.did, fmt.Sprintf("read: %t", err == nil))
	update := func(u sdk.SessionUpdate) {
		if err := f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s1", Update: u}); err != nil {
			f.did = append(f.did, err.Error())
		}
	}
	update(sdk.StartToolCall("c1", "Edit x", sdk.WithStartKind(sdk.ToolKindEdit), sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(map[string]any{"path": "x"})))
	answer, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: "s1", ToolCall: sdk.ToolCallUpdate{ToolCallId: "c1"}, Options: []sdk.PermissionOption{
		{Kind: sdk.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "always"},
		{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"},
		{Kind: sdk.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"},
	}})
	if err != nil || answer.Outcome.Selected == nil {
		return sdk.PromptResponse{}, errors.Join(err, errors.New("no option was chosen"))
	}
	chosen := string(answer.Outcome.Selected.OptionId)
	f.did = append(f.did, "chosen "+chosen)
	if chosen == "yes" {
		update(sdk.UpdateToolCall("c1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted)))
	} else {
		update(sdk.UpdateToolCall("c1", sdk.WithUpdateStatus(sdk.ToolCallStatusFailed)))
	}
	update(sdk.UpdateAgentMessageText("It was " + chosen + "."))
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

// What others wrote understands what is written here, and the other way round.
func TestAForeignAgent(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		theirIn, in := io.Pipe()
		out, theirOut := io.Pipe()
		f := &foreign{}
		f.conn = sdk.NewAgentSideConnection(f, theirOut, theirIn)
		s := &stub{}
		c, err := Open(t.Context(), in, out, Options{Version: "1", Permit: s.permits(allowed)})
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.New(t.Context(), "/work", []Server{{Name: "eventdeck", Command: "/bin/x", Args: []string{"gate", "r"}, Env: [][2]string{{"A", "b"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Load(t.Context(), id, "/work", nil); err != nil {
			t.Fatal(err)
		}
		got, err := c.Prompt(t.Context(), id, []string{"go", "data"})
		chosen := map[bool]string{true: "yes", false: "no"}[allowed]
		if err != nil || got.Stop != StopEnd || got.Text.Raw() != "It was "+chosen+"." {
			t.Errorf("%+v, %v", got, err)
		}
		if len(s.asked) != 1 || s.asked[0].Title.Raw() != "Edit x" || s.asked[0].Kind.Raw() != "edit" {
			t.Errorf("asked %+v", s.asked)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-f.conn.Done()
		want := []string{"initialize 1 {map[] false false} false eventdeck", "new /work eventdeck /bin/x [gate r] A=b", "load s1", "prompt go", "read: false", "chosen " + chosen}
		if !slices.Equal(f.did, want) {
			t.Errorf("it saw\n%s\nwant\n%s", strings.Join(f.did, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestAForeignAgentIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirIn, in := io.Pipe()
		out, theirOut := io.Pipe()
		f := &foreign{}
		f.conn = sdk.NewAgentSideConnection(f, theirOut, theirIn)
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		c, err := Open(ctx, in, out, Options{Said: func(trust.Text) { cancel(enough) }})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Prompt(ctx, s1, []string{"wait"})
		if !errors.Is(err, enough) || errors.Is(err, ErrDeaf) || got.Stop != StopCancelled || got.Text.Raw() != "waiting" {
			t.Errorf("%+v, %v", got, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
