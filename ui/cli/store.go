package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Inspect and maintain the store: size, retention, checks, copies",
		Long: `While another process has the store open, info, keep and backup ask that process, and check reads a copy;
compact, key, restore and recover need a store that no process has open.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return plain.UsageErrorf("there is no command store %q%s; use info, keep, key, check, compact, backup, restore, import or recover", args[0], plain.SimilarCommand(cmd, args[0]))
			}
			return nil
		},
		Run: a.Run(func(cmd *cobra.Command, _ []string) error { return a.storeInfo(cmd.Context()) }),
	}
	cmd.AddCommand(a.storeInfoCommand(), a.storeKeepCommand(), a.storeCheckCommand(), a.storeRecoverCommand(), a.storeImportCommand(),
		&cobra.Command{
			Use: "compact", Short: "Shrink the file by the room of removed records", Args: plain.ExactArgs(0),
			Run: a.Run(func(*cobra.Command, []string) error { return a.storeCompact() }),
		},
		&cobra.Command{
			Use: "backup FILE", Short: "Copy the store to a new file, without the sealing key", Args: plain.ExactArgs(1),
			Run: a.Run(func(cmd *cobra.Command, args []string) error { return a.storeBackup(cmd.Context(), args[0]) }),
		},
		a.storeRestoreCommand(), a.storeKeyCommand())
	return cmd
}

func (a *app) storeInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Show where the store is, its size and its retention", Args: plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error { return a.storeInfo(cmd.Context()) }),
	}
}

// storeSummary is what `store info --json` prints.
type storeSummary struct {
	Path      string          `json:"path"`
	Records   uint64          `json:"records"`
	Bytes     int64           `json:"bytes"`
	FileBytes int64           `json:"fileBytes"`
	Oldest    *time.Time      `json:"oldest,omitempty"`
	Newest    *time.Time      `json:"newest,omitempty"`
	Subs      int             `json:"subscriptions"`
	Sealed    string          `json:"sealed"`
	Locked    string          `json:"locked,omitempty"`  // why the sealing key cannot be had
	InUse     int             `json:"inUseBy,omitempty"` // process that has it open
	Keep      event.Retention `json:"keep"`
}

func (a *app) storeInfo(ctx context.Context) (err error) {
	s, err := a.OpenKept(ctx)
	if err != nil {
		return a.Listed(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	info := s.Info()
	out := storeSummary{
		Path: info.Path, Records: info.Records, Bytes: info.Bytes, FileBytes: info.FileBytes,
		Subs: len(s.Subscriptions()), Sealed: info.Sealed, Keep: s.Retention(), InUse: info.Holder,
	}
	if info.Locked != nil {
		out.Locked = info.Locked.Error()
	}
	note := func(at **time.Time) func(event.Record) bool {
		return func(r event.Record) bool {
			*at = &r.ReceivedAt
			return false
		}
	}
	if err := errors.Join(s.Forward(0, note(&out.Oldest)), s.Backward(s.Last(), note(&out.Newest))); err != nil {
		return err
	}
	if a.Flags.JSON {
		return a.PrintJSON(out)
	}
	var t plain.Table
	t.Add("directory", out.Path)
	if out.InUse != 0 {
		t.Add("in use by", fmt.Sprintf("process %d", out.InUse))
	}
	if info.Err != nil {
		t.Add("not stored", plain.Message(info.Err))
	}
	t.Add("records", fmt.Sprintf("%d, %s", out.Records, config.SizeWords(out.Bytes)))
	t.Add("file", config.SizeWords(out.FileBytes))
	if out.Oldest != nil && out.Newest != nil {
		t.Add("from", out.Oldest.UTC().Format(time.RFC3339))
		t.Add("to", out.Newest.UTC().Format(time.RFC3339))
	}
	t.Add("subscriptions", fmt.Sprint(out.Subs))
	switch {
	case out.Locked != "":
		t.Add("sealing key", out.Sealed+"; "+plain.Message(info.Locked))
	case out.Sealed == "file":
		t.Add("sealing key", program.KeyFile(info))
	default:
		t.Add("sealing key", out.Sealed)
	}
	t.Add("kept in all", limitWords(out.Keep.Total))
	t.Add("per subscription", limitWords(out.Keep.PerSub))
	return a.PrintTable(&t)
}

func (a *app) storeKeepCommand() *cobra.Command {
	var total, perSub limitFlags
	cmd := &cobra.Command{
		Use:   "keep",
		Short: "Set how long and how much is kept; without flags show it",
		Long: `Records beyond a limit are removed, oldest first: at once, and from then on as records are added.
0 removes a limit. Ages are like 90m, 12h, 30d; sizes like 500MB or 2GiB.`,
		Example: "eventdeck store keep --age 30d --size 5GiB\neventdeck store keep --sub-events 100000",
		Args:    plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) (err error) {
			o, err := a.Kept()
			if err != nil {
				return err
			}
			s, err := a.UseStore(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			keep := s.Retention()
			if err := errors.Join(total.apply(&keep.Total, ""), perSub.apply(&keep.PerSub, "sub-")); err != nil {
				return err
			}
			if keep != s.Retention() {
				if err := s.SetRetention(cmd.Context(), keep); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(a.Stdout, "in all: %s\nper subscription: %s\n", limitWords(keep.Total), limitWords(keep.PerSub))
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&total.age, "age", "", "how long records are kept")
	f.StringVar(&total.size, "size", "", "how much is kept in all")
	f.StringVar(&total.records, "events", "", "how many records are kept in all")
	f.StringVar(&perSub.age, "sub-age", "", "how long records of a subscription are kept")
	f.StringVar(&perSub.size, "sub-size", "", "how much is kept of a subscription")
	f.StringVar(&perSub.records, "sub-events", "", "how many records are kept of a subscription")
	return cmd
}

func (a *app) storeKeyCommand() *cobra.Command {
	var lose bool
	cmd := &cobra.Command{
		Use: "key file|keyring|new", Short: "Move the key that seals secrets, or make another one", Args: plain.ExactArgs(1),
		ValidArgs: []string{"file", "keyring", "new"},
		Long: `file keeps the key in a file beside the store (0600), keyring in the keyring of this session; where it was it is
removed. new makes another key and seals all secrets with it; where the old key cannot be had it says which
secrets become unreadable, and does it with --yes. EVENTDECK_KEY=file or keyring, or "key" in settings.json,
says where new stores keep theirs.`,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(cmd.ValidArgs, args[0]) {
				return plain.UsageErrorf("there is no place %q for a key; use file, keyring or new", args[0])
			}
			place, err := a.KeyPlace()
			if err != nil {
				return err
			}
			return a.withExisting(func(dir string) error {
				return a.StoreTools.ChangeKey(cmd.Context(), program.StoreOptions{Dir: dir, KeyPlace: place, Prompt: a.StdinTerminal}, args[0], lose, a.tell)
			})
		}),
	}
	cmd.Flags().BoolVar(&lose, "yes", false, "new: also if secrets become unreadable")
	return cmd
}

func (a *app) storeCheckCommand() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use: "check", Short: "Verify the whole store and report what is wrong", Args: plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			return a.withExisting(func(dir string) error {
				if !here {
					return a.checkStore(cmd.Context(), dir)
				}
				defer boundChild(filepath.Join(dir, storeFile))()
				if err := a.StoreTools.Check(cmd.Context(), dir, a.tell); err != nil {
					return err
				}
				a.tell("nothing is wrong")
				return nil
			})
		}),
	}
	hidden(cmd, &here, "here")
	return cmd
}

// checkStore checks the store, or a copy when another process has it open.
func (a *app) checkStore(ctx context.Context, dir string) error {
	c, err := a.Attached(ctx, program.StoreOptions{Dir: dir})
	if err != nil {
		return err
	}
	if c != nil {
		return a.checkCopy(ctx, c, dir)
	}
	return a.checkInChild(ctx, dir)
}

func (a *app) checkInChild(ctx context.Context, dir string) error {
	defer a.Working("checking", nil)()
	err := a.inChild(ctx, dir, "check")
	if errors.Is(err, errChildDied) {
		err = fmt.Errorf("the store in %s is so damaged that it cannot be read; `eventdeck store recover` keeps what can be read", dir)
	}
	return err
}

func (a *app) storeRecoverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "recover",
		Short: "Rebuild a damaged store from what can be read",
		Long: `Records that can be read are kept. Subscriptions that lost some go on as in the newest snapshot, so that
their servers are asked again for what is lost, and get a gap record; all of them do where the file does
not tell which. Subscriptions that are younger than the snapshot, or were removed after it, are named
and paused, and the exit code is 1. The old file is kept beside the new one.`,
		Args: plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			return a.withExisting(func(dir string) error {
				defer a.Working("recovering", nil)()
				return a.StoreTools.Recover(cmd.Context(), dir, a.Now(), a.tell)
			})
		}),
	}
}

// tell writes a line of a report.
func (a *app) tell(line string) { _, _ = fmt.Fprintln(a.Stdout, line) }

// withExisting calls do with the directory of the existing store.
func (a *app) withExisting(do func(dir string) error) error {
	o, err := a.Existing()
	if err != nil {
		return err
	}
	return do(o.Dir)
}

func (a *app) storeCompact() error {
	return a.withExisting(func(dir string) error {
		stop := a.Working("compacting", nil)
		before, after, err := a.StoreTools.Compact(dir)
		stop()
		if err == nil {
			a.tell(fmt.Sprintf("%s became %s", config.SizeWords(before), config.SizeWords(after)))
		}
		return err
	})
}

func (a *app) storeBackup(ctx context.Context, file string) error {
	return a.withExisting(func(dir string) error {
		defer a.Working("copying", nil)()
		c, err := a.Attached(ctx, program.StoreOptions{Dir: dir})
		var n int64
		switch {
		case err != nil:
		case c != nil:
			n, err = a.backUpAttached(ctx, c, file)
		default:
			n, err = a.StoreTools.Backup(dir, file)
		}
		if err == nil {
			a.tell(fmt.Sprintf("%s with %s; the key that opens its secrets is not in it", file, config.SizeWords(n)))
		}
		return err
	})
}

func (a *app) storeRestoreCommand() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Replace the store by a copy; the old file is kept beside it", Args: plain.ExactArgs(1),
		Long: `restore reads the copy from FILE, or from standard input when FILE is -, and checks it before it replaces
the store. The old file is kept beside it. A copy that is damaged, or longer than its beginning says,
changes nothing.`,
		Example: "eventdeck store restore kept.db\ngunzip < kept.db.gz | eventdeck store restore -",
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			o, err := a.Kept()
			if err != nil {
				return err
			}
			in, name := a.copyToRestore(args[0])
			if here {
				defer boundChild(args[0])()
				return a.storeRestore(cmd.Context(), o, name, in)
			}
			defer a.Working("restoring", nil)()
			err = a.inChildReading(cmd.Context(), in, o.Dir, "restore", "--", args[0])
			if errors.Is(err, errChildDied) {
				err = fmt.Errorf("%s is so damaged that it cannot be read; take another copy: the store is as it was", name)
			}
			return err
		}),
	}
	hidden(cmd, &here, "here")
	return cmd
}

// copyToRestore returns standard input if FILE is -, else nil, and the name of the copy for
// messages.
func (a *app) copyToRestore(file string) (in io.Reader, name string) {
	if file == "-" {
		return a.Stdin, "standard input"
	}
	return nil, file
}

// storeRestore checks the copy, which may end the process, before it puts it into place.
func (a *app) storeRestore(ctx context.Context, o program.StoreOptions, file string, in io.Reader) error {
	aside, err := a.StoreTools.Restore(ctx, o.Dir, file, in, a.Now(), a.tell)
	if err != nil {
		return err
	}
	if aside != "" {
		a.tell(fmt.Sprintf("what was there is kept as %s in %s", aside, o.Dir))
	}
	a.tell("the copy is in its place")
	return nil
}
