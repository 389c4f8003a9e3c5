package config

import (
	"path/filepath"
	"slices"
)

// client is another MCP client and where it configures its servers.
type client struct {
	name  string
	files []place
	under []string // path of member names to the servers
	toml  bool
	yaml  bool
	shell bool // it replaces $(COMMAND) in values by what the command prints
}

// place is a file below one of the base directories.
type place struct {
	base base
	path string
}

type base uint8

const (
	home      base = iota // the user's home directory
	apps                  // settings of desktop programs
	dotConfig             // ~/.config; on Windows the same as apps
	project               // the working directory
)

// clients are the known clients, in the order of the preview.
var clients = []client{
	{name: "Claude Desktop", files: []place{{apps, "Claude/claude_desktop_config.json"}}, under: []string{"mcpServers"}},
	{name: "Claude Code", files: []place{{home, ".claude.json"}, {project, ".mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Cursor", files: []place{{home, ".cursor/mcp.json"}, {project, ".cursor/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "VS Code", files: []place{{apps, "Code/User/mcp.json"}, {apps, "Code - Insiders/User/mcp.json"}, {apps, "VSCodium/User/mcp.json"}, {project, ".vscode/mcp.json"}}, under: []string{"servers"}},
	{name: "VS Code", files: []place{{apps, "Code/User/settings.json"}, {apps, "Code - Insiders/User/settings.json"}}, under: []string{"mcp", "servers"}},
	{name: "Cline", files: []place{{apps, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"}}, under: []string{"mcpServers"}},
	{name: "Roo Code", files: []place{{apps, "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"}, {project, ".roo/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Windsurf", files: []place{{home, ".codeium/windsurf/mcp_config.json"}}, under: []string{"mcpServers"}},
	{name: "Zed", files: []place{{dotConfig, "zed/settings.json"}, {project, ".zed/settings.json"}}, under: []string{"context_servers"}},
	{name: "Kiro", files: []place{{home, ".kiro/settings/mcp.json"}, {project, ".kiro/settings/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "LM Studio", files: []place{{home, ".lmstudio/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Codex", files: []place{{home, ".codex/config.toml"}, {project, ".codex/config.toml"}}, under: []string{"mcp_servers"}, toml: true},
	{name: "Gemini CLI", files: []place{{home, ".gemini/settings.json"}, {project, ".gemini/settings.json"}}, under: []string{"mcpServers"}},
	{name: "Copilot CLI", files: []place{{home, ".copilot/mcp-config.json"}}, under: []string{"mcpServers"}},
	{name: "opencode", files: []place{{dotConfig, "opencode/opencode.json"}, {dotConfig, "opencode/opencode.jsonc"}, {project, "opencode.json"}}, under: []string{"mcp"}},
	{name: "Crush", files: []place{{dotConfig, "crush/crush.json"}, {project, "crush.json"}}, under: []string{"mcp"}, shell: true},
	{name: "Goose", files: []place{{dotConfig, "goose/config.yaml"}, {dotConfig, "Block/goose/config/config.yaml"}}, under: []string{"extensions"}, yaml: true},
	{name: "Continue", files: []place{{home, ".continue/config.yaml"}}, under: []string{"mcpServers"}, yaml: true},
	{name: "Qwen Code", files: []place{{home, ".qwen/settings.json"}, {project, ".qwen/settings.json"}}, under: []string{"mcpServers"}},
	{name: "Kilo Code", files: []place{{apps, "Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"}, {project, ".kilocode/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Kilo Code", files: []place{{dotConfig, "kilo/kilo.json"}, {dotConfig, "kilo/kilo.jsonc"}, {project, "kilo.json"}, {project, "kilo.jsonc"}, {project, ".kilo/kilo.json"}, {project, ".kilo/kilo.jsonc"}}, under: []string{"mcp"}},
	{name: "Amp", files: []place{{dotConfig, "amp/settings.json"}, {project, ".amp/settings.json"}}, under: []string{"amp.mcpServers"}},
	{name: "JetBrains", files: []place{{home, ".junie/mcp/mcp.json"}, {project, ".junie/mcp/mcp.json"}, {project, ".air/mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Visual Studio", files: []place{{home, ".mcp.json"}, {project, ".vs/mcp.json"}}, under: []string{"servers"}},
	{name: "Warp", files: []place{{home, ".warp/.mcp.json"}, {project, ".warp/.mcp.json"}}, under: []string{"mcpServers"}},
	{name: "Amazon Q", files: []place{{home, ".aws/amazonq/mcp.json"}}, under: []string{"mcpServers"}},
}

// dir returns the directory of a base, "" if it is unknown.
func (p Paths) dir(b base, present string) string {
	if b == project {
		return present
	}
	if p.Home == "" {
		return ""
	}
	appData := filepath.Join(p.Home, "AppData", "Roaming")
	if dir, ok := p.Env("APPDATA"); ok && p.System == "windows" && filepath.IsAbs(dir) {
		appData = dir
	}
	switch {
	case b == home:
		return p.Home
	case p.System == "windows":
		return appData
	case p.System == "darwin" && b == apps:
		return filepath.Join(p.Home, "Library", "Application Support")
	}
	if dir, ok := p.Env("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// ClientNames returns the names of the clients that [Discover] knows.
func ClientNames() []string {
	var names []string
	for _, c := range clients {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}
