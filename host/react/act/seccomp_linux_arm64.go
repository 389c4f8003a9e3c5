package act

// refusedOlder are refused calls that newer machines never had: this is one.
var refusedOlder []uint32
