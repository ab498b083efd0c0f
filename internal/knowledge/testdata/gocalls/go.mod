module example.com/ledger

go 1.24

require github.com/example/metrics v1.2.0
