//! Instructions and allocations of one call, counted and held against what they were when a file was written. Needs valgrind.
//!
//! Instructions are counted by valgrind in a process of its own, which is this program again, with [`RUN`] and what it is to do.

use std::{
    fs,
    path::Path,
    process::{Command, exit},
};

const RUN: &str = "--run";

/// What this process is to do, if it is one whose instructions are counted: the number of a path, how many calls, and what
/// else it has to know.
pub(crate) fn run() -> Option<(usize, u64, Vec<String>)> {
    let mut args = std::env::args().skip(1);
    if args.next()? != RUN {
        return None;
    }
    let path = args.next()?.parse().expect("the number of a path");
    let calls = args.next()?.parse().expect("a number of calls");
    Some((path, calls, args.collect()))
}

/// Prints what each path costs `per` call, as the difference between a few calls and many. With `--write` the file is written
/// anew. `more` is what a run has to know besides.
pub(crate) fn print(
    per: &str,
    [few, many]: [u64; 2],
    paths: &[(&str, impl Fn(u64))],
    more: &[&str],
    file: &Path,
) {
    let before = fs::read_to_string(file).unwrap_or_default();
    let mut table = String::new();
    println!("instructions    before allocations  per {per}");
    for (path, (name, run)) in paths.iter().enumerate() {
        let each = |count: &dyn Fn(u64) -> u64| (count(many) - count(few)) / (many - few);
        let instructions = each(&|calls| instructions(path, calls, more));
        let allocations = each(&|calls| allocation_counter::measure(|| run(calls)).count_total);
        let known = before
            .lines()
            .find_map(|line| line.strip_suffix(name)?.split_whitespace().next());
        let known = known.unwrap_or("-");
        println!("{instructions:>12} {known:>9} {allocations:>11}  {name}");
        table += &format!("{instructions:>12} {allocations:>11}  {name}\n");
    }
    if std::env::args().any(|arg| arg == "--write") {
        fs::write(file, table).expect("the directory of the benchmarks can be written to");
    }
}

/// All of a process that does this many calls.
fn instructions(path: usize, calls: u64, more: &[&str]) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("its own name"))
        .args([RUN, &path.to_string(), &calls.to_string()])
        .args(more)
        .output();
    let Ok(output) = output else {
        eprintln!("install valgrind (the package of that name)");
        exit(1);
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("valgrind counted nothing:\n{said}"))
}
