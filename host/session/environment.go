package session

import (
	"runtime"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// environment returns the variables for a server's process, and the names of those that are
// withheld from it. It gets what programs need to find their files, their language and the network,
// the variables that the operator lets it inherit, and its own. The rest may be secrets of other
// servers; variables of eventdeck itself never pass.
func environment(server event.Server, environ []string) (passed, withheld []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		own := strings.HasPrefix(strings.ToUpper(name), "EVENTDECK_")
		if !own && (isCommon(name, runtime.GOOS) || slices.Contains(server.Inherit, name)) {
			passed = append(passed, variable)
		} else {
			withheld = append(withheld, name)
		}
	}
	for name, value := range server.Env {
		passed = append(passed, name+"="+value.Reveal())
	}
	return passed, withheld
}

// isCommon reports whether every process gets a variable.
func isCommon(name, system string) bool {
	upper := strings.ToUpper(name)
	switch upper {
	case "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR":
		return true
	}
	if system == "windows" {
		switch upper {
		case "ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "COMPUTERNAME", "COMSPEC",
			"HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA",
			"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN",
			"USERNAME", "USERPROFILE", "WINDIR":
			return true
		}
		return false
	}
	switch name {
	case "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TMPDIR", "TZ":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// missed returns the withheld variable that a line of a process's standard error names, "" if it
// names none.
func missed(withheld []string, line string) string {
	isPart := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !isPart(r) }) {
		if len(word) > 3 && slices.Contains(withheld, word) {
			return word
		}
	}
	return ""
}
