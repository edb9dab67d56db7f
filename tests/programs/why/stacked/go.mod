module stacked

go 1.21
