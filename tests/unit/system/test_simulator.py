"""The simulator, and the process of an app on it."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import simulator
from debugger.targets import process_target
from fakes.fake_xcrun import LIST, FakeXcrun, launchctl_list, list_arguments, simulator_device

ONE = "11111111-2222-3333-4444-555555555555"
TWO = "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE"
PHONE = simulator.SimulatorDevice(ONE, "iPhone 16", "iOS-18-0", "Shutdown")


@pytest.fixture
def xcrun(tmp_path) -> FakeXcrun:
    return FakeXcrun(tmp_path)


def make_simulator(fake: FakeXcrun) -> dict[str, str]:
    return {**os.environ, **fake.env}


async def failed(asked) -> DebuggerError:
    with pytest.raises(DebuggerError) as error:
        await asked
    assert error.value.hint
    return error.value


# --- what was told ---


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        (ONE, True),
        (TWO.lower(), True),
        ("iPhone 16", False),
        (ONE[:-1], False),
        (f"{ONE} ", False),
        (f"-{ONE}", False),
    ],
)
def test_an_identifier_is_told_from_a_name(word, is_one):
    assert simulator.is_udid(word) is is_one


def test_devices_are_read_by_runtime():
    text = json.dumps(
        {
            "devices": {
                "com.apple.CoreSimulator.SimRuntime.iOS-18-0": [
                    simulator_device(ONE, "iPhone 16", dataPath="/x", logPathSize=3)
                ],
                "com.apple.CoreSimulator.SimRuntime.watchOS-11-0": [],
                "com.apple.CoreSimulator.SimRuntime.tvOS-18-0": [
                    simulator_device(TWO, "Apple TV", state="Booted", isAvailable=False)
                ],
            }
        }
    )
    assert simulator.parse_devices(text) == [
        PHONE,
        simulator.SimulatorDevice(TWO, "Apple TV", "tvOS-18-0", "Booted", is_available=False),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"devices": []}', '{"devices": {"iOS": [{"name": "x"}]}}', "\udcff"],
)
def test_what_is_no_list_of_devices_is_said(text):
    with pytest.raises(DebuggerError) as error:
        simulator.parse_devices(text)
    assert error.value.code is ErrorCode.PROTOCOL
    assert error.value.message.startswith("Failed to parse simulator list: ")


def test_a_device_is_meant_by_its_name_or_its_identifier():
    assert simulator.choose_device("iPhone 16", [PHONE]) == PHONE
    assert simulator.choose_device(ONE, [PHONE]) == PHONE


@pytest.mark.parametrize("wanted", ["iPhone 1", "iphone 16", "", "iPhone 16 Pro"])
def test_a_name_that_is_only_near_is_not_taken(wanted):
    with pytest.raises(DebuggerError) as error:
        simulator.choose_device(wanted, [PHONE])
    assert error.value.code is ErrorCode.NOT_FOUND
    assert error.value.message.startswith(f"Simulator '{wanted}' not found")


def test_near_names_are_told():
    with pytest.raises(DebuggerError, match="there is iPhone 16"):
        simulator.choose_device("iPhone 61", [PHONE])


def test_a_device_that_cannot_be_used_is_told_as_that():
    broken = simulator.SimulatorDevice(ONE, "iPhone 5", is_available=False)
    with pytest.raises(DebuggerError) as error:
        simulator.choose_device("iPhone 5", [broken])
    assert error.value.message == "Simulator 'iPhone 5' exists but is not available"
    usable = simulator.SimulatorDevice(TWO, "iPhone 5")
    assert simulator.choose_device("iPhone 5", [broken, usable]) == usable


def test_of_several_of_one_name_the_booted_one_is_meant_else_all_are_listed():
    older = simulator.SimulatorDevice(TWO, "iPhone 16", "iOS-17-5", "Shutdown")
    with pytest.raises(DebuggerError) as error:
        simulator.choose_device("iPhone 16", [PHONE, older])
    assert error.value.code is ErrorCode.USAGE
    assert error.value.message.splitlines() == [
        "2 simulators are called 'iPhone 16':",
        f"  {ONE}  iOS-18-0  Shutdown",
        f"  {TWO}  iOS-17-5  Shutdown",
    ]
    booted = simulator.SimulatorDevice(TWO, "iPhone 16", "iOS-17-5", "Booted")
    assert simulator.choose_device("iPhone 16", [PHONE, booted]) == booted


@pytest.mark.parametrize(
    ("label", "pid", "found"),
    [
        ("com.a", 5, 5),
        ("UIKitApplication:com.a[1f2e][rb-legacy]", 5, 5),
        ("UIKitApplication:com.a", 5, None),
        ("UIKitApplication:com.a.helper[1f2e]", 5, None),
        ("com.a.helper", 5, None),
        ("x.com.a", 5, None),
        ("com.b", 5, None),
        ("com.a", "-", None),
        ("com.a", "-1", None),
        ("com.a", "0", None),
        ("com.a", "x", None),
        ("com.a", "٣", None),
    ],
)
def test_an_app_is_found_by_its_own_label_only(label, pid, found):
    assert simulator.pid_of("com.a", launchctl_list({label: pid})) == found


def test_an_app_that_ended_and_runs_again_is_found():
    listed = launchctl_list({"UIKitApplication:com.a[1]": "-", "UIKitApplication:com.a[2]": 9})
    assert simulator.pid_of("com.a", listed) == 9


def test_several_processes_of_an_app_are_told_and_none_is_taken():
    listed = launchctl_list({"UIKitApplication:com.a[1]": 12, "UIKitApplication:com.a[2]": 9})
    with pytest.raises(DebuggerError, match=r"2 processes run of com\.a: 9, 12"):
        simulator.pid_of("com.a", listed)


@pytest.mark.parametrize("text", ["", "\n\n", "PID\tStatus\tLabel\n", "1\n2 3\n", "\0\x1b["])
def test_what_is_no_list_of_processes_has_no_app(text):
    assert simulator.pid_of("com.a", text) is None


# --- xcrun ---


async def test_a_name_is_looked_up_and_its_app_found(xcrun):
    xcrun.has(simulator_device(ONE, "iPhone 16"))
    xcrun.runs(ONE, {"UIKitApplication:com.a[1]": 77})
    found = await simulator.find_device(make_simulator(xcrun), "iPhone 16")
    assert found.udid == ONE
    assert await simulator.app_process(make_simulator(xcrun), found.udid, "com.a") == 77
    assert xcrun.calls == [LIST, list_arguments(ONE)]


async def test_an_identifier_is_taken_as_it_is(xcrun):
    assert (await simulator.find_device(make_simulator(xcrun), TWO)).udid == TWO
    assert xcrun.calls == []


async def test_an_app_that_does_not_run_is_told_with_what_starts_it(xcrun):
    xcrun.runs(ONE, {"com.a.helper": 77, "com.a": "-"})
    error = await failed(simulator.app_process(make_simulator(xcrun), ONE, "com.a"))
    assert error.code is ErrorCode.NOT_FOUND
    assert error.message == f"No running process found for com.a on simulator {ONE}"
    assert "simctl launch" in str(error.hint)


async def test_an_app_is_waited_for(xcrun):
    xcrun.runs(ONE, {}, {"com.a": "-"}, {"com.a": 78})
    pid = await simulator.wait_for_app(
        make_simulator(xcrun), ONE, "com.a", seconds=20, interrupted=asyncio.Event()
    )
    assert (pid, len(xcrun.calls)) == (78, 3)


async def test_an_app_is_not_waited_for_longer_than_was_asked(xcrun):
    xcrun.runs(ONE, {})
    error = await failed(
        simulator.wait_for_app(
            make_simulator(xcrun), ONE, "com.a", seconds=0.3, interrupted=asyncio.Event()
        )
    )
    assert error.code is ErrorCode.TIMEOUT
    assert error.message == f"No running process found for com.a on simulator {ONE} within 0.3 s"
    assert len(xcrun.calls) >= 2


async def test_an_interrupt_ends_the_wait_for_an_app(xcrun):
    xcrun.runs(ONE, {})
    interrupted = asyncio.Event()
    interrupted.set()
    await failed(
        simulator.wait_for_app(
            make_simulator(xcrun), ONE, "com.a", seconds=60, interrupted=interrupted
        )
    )
    assert len(xcrun.calls) == 1


async def test_an_xcrun_that_fails_is_told_with_its_own_words(xcrun):
    xcrun.says(list_arguments(ONE), problem=f"Invalid device: {ONE}\n", exit=148)
    error = await failed(simulator.app_process(make_simulator(xcrun), ONE, "com.a"))
    assert error.code is ErrorCode.ADAPTER_FAILED
    assert f"Invalid device: {ONE}" in error.message
    xcrun.says(LIST, exit=1)
    assert "exit status 1" in (await failed(simulator.list_devices(make_simulator(xcrun)))).message


async def test_an_xcrun_that_hangs_is_ended(xcrun, wait_until):
    xcrun.says(LIST, hangs=True)
    error = await failed(simulator.list_devices(make_simulator(xcrun), limit_s=0.5))
    assert error.code is ErrorCode.TIMEOUT
    assert error.message == f"xcrun {LIST} did not end within 0.5 s"


async def test_a_wait_that_is_cancelled_leaves_no_xcrun(xcrun, tmp_path, wait_until):
    xcrun.says(LIST, hangs=True)
    asked = asyncio.create_task(simulator.list_devices(make_simulator(xcrun)))
    await asyncio.to_thread(wait_until, lambda: xcrun.calls == [LIST])
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert not [pid for pid in os.listdir("/proc") if _runs(pid, str(tmp_path))]


def _runs(pid: str, folder: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsencode(folder) in file.read().split(b"\0")
    except OSError:
        return False


async def test_without_xcode_that_is_said(tmp_path):
    error = await failed(simulator.find_device({"PATH": str(tmp_path)}, ONE))
    assert error.code is ErrorCode.ADAPTER_NOT_FOUND
    assert "xcrun" in error.message
    assert "debugger attach PID" in str(error.hint)


async def test_an_xcrun_that_cannot_be_run_is_told(tmp_path):
    program = tmp_path / "xcrun"
    program.write_bytes(b"\x7fELF no program")
    program.chmod(0o755)
    error = await failed(simulator.list_devices({"PATH": str(tmp_path)}))
    assert error.code is ErrorCode.ADAPTER_FAILED


# --- what an attach means ---


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"simulator": None, "bundle_id": "com.a"}, "on which simulator?"),
        ({"simulator": "", "bundle_id": "com.a"}, "on which simulator?"),
        ({"simulator": "x"}, "Provide either bundleId or pid to attach."),
        (
            {"simulator": "x", "bundle_id": "com.a", "pid": "5"},
            "bundleId and pid are mutually exclusive. Provide only one.",
        ),
        ({"simulator": "x", "pid": "5", "wait_s": 1.0}, "waitFor is only valid"),
        ({"simulator": "x", "bundle_id": "com a"}, "not a bundle id"),
        ({"simulator": "x", "bundle_id": "com.a\n1"}, "not a bundle id"),
        ({"simulator": "x", "bundle_id": ""}, "not a bundle id"),
        ({"simulator": "x", "bundle_id": "a" * 256}, "not a bundle id"),
    ],
)
async def test_words_that_mean_nothing_are_refused_before_xcrun_is_run(xcrun, words, says):
    error = await failed(
        process_target.find_app(
            make_simulator(xcrun), process_target.SimulatorRequest(**words), asyncio.Event()
        )
    )
    assert error.code is ErrorCode.USAGE
    assert says in error.message
    assert xcrun.calls == []


async def test_an_app_is_named_with_its_simulator(xcrun):
    xcrun.has(simulator_device(ONE, "iPhone 16"))
    xcrun.runs(ONE, {"com.a": 77})
    wanted = process_target.SimulatorRequest("iPhone 16", "com.a")
    assert await process_target.find_app(
        make_simulator(xcrun), wanted, asyncio.Event()
    ) == process_target.SimulatorApp(
        ONE, "77", f"com.a on simulator iPhone 16 ({ONE}) is process 77"
    )


# --- doctor ---


async def test_doctor_counts_the_simulators_and_names_the_booted(xcrun):
    xcrun.has(simulator_device(ONE, "iPhone 16"), simulator_device(TWO, "iPad", state="Booted"))
    told = await process_target.check_simulators(make_simulator(xcrun))
    assert (told.status, told.message) == ("ok", "2 can be used, booted: iPad")
    xcrun.has(simulator_device(ONE, "iPhone 16"))
    assert (
        await process_target.check_simulators(make_simulator(xcrun))
    ).message == "1 can be used, none is booted"


async def test_doctor_says_what_to_do_where_there_are_none(xcrun, tmp_path):
    xcrun.has()
    told = await process_target.check_simulators(make_simulator(xcrun))
    assert (told.status, told.fix) == ("warning", "xcodebuild -downloadPlatform iOS")
    xcrun.says(LIST, exit=1, problem="no developer tools")
    told = await process_target.check_simulators(make_simulator(xcrun))
    assert (told.status, "no developer tools" in told.message) == ("error", True)


async def test_doctor_does_not_blame_a_system_that_can_have_none(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    assert (await process_target.check_simulators({"PATH": str(tmp_path)})).status == "ok"
    monkeypatch.setattr("sys.platform", "darwin")
    told = await process_target.check_simulators({"PATH": str(tmp_path)})
    assert (told.status, told.fix) == ("warning", "xcode-select --install")
