//go:build !windows

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"eventdeck/host/mcptest"
)

// Secrets that a server of SEP-1803 makes, in both of their forms.
const rawSecret = "rawsecret-Pp61NnDs94WqZzKkLm" // signs as it stands

var standardSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("standardsecret-Vv72RrTtYyUu")) // signs decoded

// registrar is an MCP server of SEP-1803 that takes registrations for two types, one
// for each form of a secret.
func registrar(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	answer := mcptest.NoMethod
	switch m.Method {
	case "initialize":
		answer = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"registrar"},"capabilities":{"resources":{"events":true,"subscription":["webhook"]}}}`
	case "resources/list":
		answer = `"result":{"resources":[{"uri":"event://raw","name":"raw"},{"uri":"event://standard","name":"standard"}]}`
	case "resources/templates/list":
		answer = `"result":{"resourceTemplates":[]}`
	case "resources/subscriptions/register":
		uris := strings.Join(m.Params.URIs, " ")
		secret := fmt.Sprintf(`{"type":"raw","value":%q}`, rawSecret)
		if uris == "event://standard" {
			secret = fmt.Sprintf(`{"type":"standard","key":%q}`, standardSecret)
		}
		answer = fmt.Sprintf(`"result":{"subscription":{"uri":"subscription://%d","webhookSecret":%s}}`, len(uris), secret)
	case "resources/subscriptions/deregister":
		answer = `"result":{}`
	}
	m.Answer(w, answer)
}
