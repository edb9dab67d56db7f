
import os, signal, sys
from pathlib import Path
from debugger.install.installer import open_install_prefix
real = Path.rename
def rename(self, target):
    if when == "between" and ".new-" in self.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, target)
when, Path.rename = sys.argv[2], rename
with open_install_prefix(Path(sys.argv[1]), "one") as place:
    (place.draft / "file").write_text("second")
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    place.put_in_place()
    os.kill(os.getpid(), signal.SIGKILL)
