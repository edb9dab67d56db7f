// Between its statements the compiler puts code of no line, into which the branches lead.
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

#[inline(never)]
fn is_newer(version: &Version, minor: u64, patch: u64) -> bool {
    if version.major > 0 {
        if version.minor != minor {
            return version.minor < minor;
        } else if version.patch != patch {
            return version.patch > patch;
        }
    }
    version.major > 3
}

fn main() {
    let parts: Vec<u64> = std::env::args().skip(1).map(|one| one.parse().unwrap()).collect();
    let version = Version { major: parts[0], minor: parts[1], patch: parts[2] };
    let newer = is_newer(&version, 2, 2);
    println!("{newer}");
    std::process::exit(!newer as i32);
}
