//! Instructions and allocations of one call, beside what they were when `costs.txt` was written. Both are the same in every
//! run, whatever else the machine does. Needs valgrind.
//!
//! `cargo bench -p cache-core --bench costs` prints them; with `-- --write` it writes them down, and so does whoever makes
//! a call dearer or cheaper on purpose.

use std::{
    fs,
    hint::black_box,
    path::Path,
    process::{Command, exit},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cache_core::cache_invalidate;

use self::work::{Product, list, moka, now, product, product_by_value};

mod work;

/// A call, again and again.
type Calls = fn(calls: u64);

const PATHS: [(&str, Calls); 8] = [
    ("hit: moka get, u64", |calls| {
        let moka = moka();
        moka.insert(7, Arc::new(Product::new(7)));
        repeat(calls, |_| moka.get(&black_box(7)));
    }),
    ("hit: u64 to Arc", |calls| {
        repeat(calls, |_| now(product(black_box(7))));
    }),
    ("hit: u64 to value", |calls| {
        repeat(calls, |_| now(product_by_value(black_box(7))));
    }),
    ("clone of that value", |calls| {
        let product = Product::new(7);
        repeat(calls, |_| black_box(&product).clone());
    }),
    ("hit: (&str, u32) to Arc", |calls| {
        repeat(calls, |_| now(list(black_box("tables"), black_box(3))));
    }),
    ("miss: moka get_with, u64", |calls| {
        let moka = moka();
        repeat(calls, |id| moka.get_with(id, || Arc::new(Product::new(id))));
    }),
    ("miss: u64 to Arc", |calls| {
        // Both counts are of one process: what the first run has loaded is no miss in the second.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = NEXT.fetch_add(calls, Ordering::Relaxed);
        repeat(calls, |id| now(product(first + id)));
    }),
    ("invalidate: u64, not there", |calls| {
        repeat(calls, |id| now(change(id)));
    }),
];

#[cache_invalidate(cache = "product")]
async fn change(#[cache_key] id: u64) {
    let _ = id;
}

fn repeat<T>(calls: u64, call: impl Fn(u64) -> T) {
    for id in 0..calls {
        drop(black_box(call(id)));
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, _, path, calls] = &args[..]
        && args[1] == "--run"
    {
        let path: usize = path.parse().expect("the number of a path");
        return PATHS[path].1(calls.parse().expect("a number of calls"));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/costs.txt");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let mut table = String::new();
    println!("instructions    before allocations  per call");
    for (path, (name, calls)) in PATHS.iter().enumerate() {
        let (few, many) = (2_000, 6_000);
        let instructions = (instructions(path, many) - instructions(path, few)) / (many - few);
        let allocations = (allocations(*calls, many) - allocations(*calls, few)) / (many - few);
        let known = before
            .lines()
            .find_map(|line| line.strip_suffix(name)?.split_whitespace().next());
        let known = known.unwrap_or("-");
        println!("{instructions:>12} {known:>9} {allocations:>11}  {name}");
        table += &format!("{instructions:>12} {allocations:>11}  {name}\n");
    }
    if args.iter().any(|arg| arg == "--write") {
        fs::write(&file, table).expect("the directory of the benchmarks can be written to");
    }
}

/// All of a process that does this many calls.
fn instructions(path: usize, calls: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("its own name"))
        .args(["--run", &path.to_string(), &calls.to_string()])
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

/// The same for allocations.
fn allocations(run: Calls, calls: u64) -> u64 {
    allocation_counter::measure(|| run(calls)).count_total
}
