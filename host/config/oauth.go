package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsonfile"
)

// oauth is the "oauth" member of a server, with variables not expanded.
type oauth struct {
	clientID, clientSecret, metadataURL, issuer, grant string

	scopes []string
	port   int
}

// Grants of the "grant" member.
const (
	grantCode   = "authorization_code"
	grantClient = "client_credentials"
)

// oauth reads the "oauth" member of a server.
func (p *parser) oauth(e *entry, m jsonfile.Member) error {
	fields, err := p.Object(m.Start, m.End, fmt.Sprintf("server %q: %q", e.name, m.Key))
	if err != nil {
		return err
	}
	o := &e.oauth
	plain := map[string]any{"clientId": &o.clientID, "clientSecret": &o.clientSecret, "clientMetadataUrl": &o.metadataURL, "issuer": &o.issuer}
	names := append(slices.Sorted(maps.Keys(plain)), "grant", "scopes", "callbackPort")
	for _, f := range fields {
		if to := plain[f.Key]; to != nil {
			err = p.value(*e, f, to)
		} else if f.Key != "scope" && !slices.Contains(names, f.Key) {
			err = p.unknown(*e, f, names)
		}
		switch f.Key {
		case "grant":
			if err = p.value(*e, f, &o.grant); err == nil && o.grant != grantCode && o.grant != grantClient {
				err = p.Errorf(f.Start, "server %q: \"grant\" is %q; use %s or %s", e.name, o.grant, grantCode, grantClient)
			}
		case "scopes", "scope":
			err = p.scopes(*e, f, &o.scopes)
		case "callbackPort":
			if err = p.value(*e, f, &o.port); err == nil && (o.port < 1 || o.port > 65535) {
				err = p.Errorf(f.Start, "server %q: %q must be a port, 1 to 65535", e.name, f.Key)
			}
		}
		if err != nil {
			return err
		}
	}
	if o.grant == grantClient && (o.clientID == "" || o.clientSecret == "") {
		return p.Errorf(m.At, `server %q: grant client_credentials needs "clientId" and "clientSecret"`, e.name)
	}
	return nil
}

// scopes reads a list of strings, or one string separated by blanks.
func (p *parser) scopes(e entry, f jsonfile.Member, to *[]string) error {
	var one string
	if json.Unmarshal(p.Plain[f.Start:f.End], &one) == nil {
		*to = strings.Fields(one)
		return nil
	}
	return p.value(e, f, to)
}

// expand expands the variables.
func (o oauth) expand(x *expander) (event.OAuth, error) {
	out := event.OAuth{
		ClientID: x.expand(o.clientID), ClientSecret: event.NewSecret(x.expand(o.clientSecret)),
		MetadataURL: x.expand(o.metadataURL), Issuer: x.expand(o.issuer),
		Scopes: o.scopes, ClientCredentials: o.grant == grantClient, CallbackPort: o.port,
	}
	for name, address := range map[string]string{"issuer": out.Issuer, "clientMetadataUrl": out.MetadataURL} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "https" && (name != "issuer" || u.Scheme != "http")) {
			return event.OAuth{}, fmt.Errorf("oauth.%s must be an https:// address", name)
		}
	}
	return out, nil
}

// members returns the JSON members that describe it, none for the zero value.
func (o oauth) members() (all [][]byte) {
	for _, m := range [][2]string{
		{"clientId", o.clientID}, {"clientSecret", o.clientSecret}, {"clientMetadataUrl", o.metadataURL}, {"issuer", o.issuer},
		{"grant", o.grant}, {"scope", strings.Join(o.scopes, " ")},
	} {
		if m[1] != "" {
			all = append(all, append([]byte(`"`+m[0]+`": `), spell(m[1])...))
		}
	}
	if o.port != 0 {
		all = append(all, fmt.Appendf(nil, `"callbackPort": %d`, o.port))
	}
	return all
}
