module example.com/prices

go 1.21
