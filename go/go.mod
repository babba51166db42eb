module github.com/fairwire/fairwire/go

go 1.21
