// Package e2e tests whole commands: projects that import the targets, run by
// mage as a user would run it.
package e2e
