module flow

go 1.21
