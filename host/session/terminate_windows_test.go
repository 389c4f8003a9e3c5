package session

import "os"

var terminate = os.Kill
