//! How much memory this process uses.

/// The memory of this process that is not elsewhere, in bytes.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is for Linux");
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok())
        .expect("Linux says how much it is");
    kibibytes * 1024
}
