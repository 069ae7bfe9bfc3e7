module example.dev/drop-in

go 1.19
