module names

go 1.20
