"""The report of all goroutines that Go's runtime writes, where they all wait."""

from __future__ import annotations

from pathlib import Path

from debugger.questions.hang.goroutine_report import (
    describe_deadlock,
    describe_map_users,
    parse_goroutines,
)

SOURCE = """package main

func transfer(from, to *account) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
}

func main() {
	all.Wait()
	counts[3] = 4
}
"""
REPORT = """fatal error: all goroutines are asleep - deadlock!

goroutine 1 [sync.WaitGroup.Wait]:
sync.(*WaitGroup).Wait(0x36d0)
	/usr/local/go/src/sync/waitgroup.go:206 +0x185
main.main()
	{file}:10 +0x218

goroutine 6 [sync.Mutex.Lock, 2 minutes]:
sync.(*Mutex).Lock(0x36c0)
	/usr/local/go/src/sync/mutex.go:46 +0x1f
main.transfer(0x36b0, {{0x36c0, 0x1}})
	{file}:6 +0xb9
created by main.main in goroutine 1
	{file}:9 +0x15c
"""
ASLEEP = "all goroutines are asleep - deadlock!"


def test_the_locks_of_each_goroutine_are_named_by_the_source(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(SOURCE)
    lines = REPORT.format(file=file).splitlines()
    found = parse_goroutines(lines)
    assert [(one.number, one.state) for one in found] == [
        (1, "sync.WaitGroup.Wait"),
        (6, "sync.Mutex.Lock"),
    ]
    assert found[1].frames[-1].function == "main.transfer"
    waits, of_main = describe_deadlock(ASLEEP, lines, str(tmp_path))
    assert waits == (
        "goroutine 6 waits for to.mu in main.transfer main.go:6, "
        "and has locked from.mu since line 4"
    )
    assert of_main == "main waits for all in main.main main.go:10"
    assert not describe_deadlock("stack overflow", lines, str(tmp_path))


def test_only_lines_that_use_a_map_are_named(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(SOURCE)
    places = [("main.main", str(file), 11), ("main.main", str(file), 10)]
    users = describe_map_users("concurrent map writes", places)
    assert users == ["another goroutine is in main.main main.go:11: counts[3] = 4"]
    assert not describe_map_users("stack overflow", places)
