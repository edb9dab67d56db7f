module compared

go 1.21
