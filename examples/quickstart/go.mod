module quickstart

go 1.26.0

tool github.com/magefile/mage

require github.com/cudaproof/cudaproof v0.0.0

replace github.com/cudaproof/cudaproof => ../..
