package store

const killDirEnv = "EVENTDECK_STORE_KILL_DIR"

func writeUntilKilled(string) {}
