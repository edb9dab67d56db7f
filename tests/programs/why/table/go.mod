module table
go 1.21
