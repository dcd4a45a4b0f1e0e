// Package bundle keeps evidence on disk: a folder per verification that holds
// the record and the logs it names. A bundle appears whole or not at all.
package bundle

import "regexp"

// RecordName is the file of a bundle that holds the record, as JSON.
const RecordName = "record.json"

// tempPrefix begins the names of folders that are being written.
const tempPrefix = ".tmp-"

// The names of bundles sort by time: UTC to the millisecond, then a random
// part for two that finish in the same one.
const timeLayout = "20060102T150405.000Z"

var bundleName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}$`)
