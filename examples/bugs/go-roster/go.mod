module example.org/roster

go 1.20
