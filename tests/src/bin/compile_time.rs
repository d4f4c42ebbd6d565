//! What the attributes cost when a program is compiled: 200 functions of a service, with the attributes and without.
//!
//! Writes two packages under the target directory, builds each several times by turns, with everything they depend on built
//! before, and prints the median times, and the median of the ratios of builds that follow each other: a machine may be slower from
//! one minute to the next. Arguments go to `cargo build`: `--release`, say.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const SERVICE: &str = include_str!("../../compile_time/service.rs");

/// Ten functions on a type of their own. `N` stands for its number.
const ENTITY: &str = include_str!("../../compile_time/entity.rs");

const ENTITIES: usize = 20;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (plain, annotated) = (source(false), source(true));
    let place = target().join("compile-time");
    write(&place, "plain", &plain)?;
    write(&place, "annotated", &annotated)?;
    fs::write(
        place.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"annotated\", \"plain\"]\n",
    )?;
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock"))?;

    println!(
        "{} functions on {ENTITIES} types, {} lines without the attributes",
        ENTITIES * 10,
        plain.lines().count()
    );
    for command in ["check", "build"] {
        let command: Vec<_> = [command]
            .into_iter()
            .chain(arguments.iter().map(String::as_str))
            .collect();
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            for (package, times) in ["plain", "annotated"].into_iter().zip(&mut times) {
                let time = build(&place, package, &command)?;
                // The first builds what both depend on.
                if round > 0 {
                    times.push(time.as_secs_f64());
                }
            }
        }
        let [plain, annotated] = &times;
        let ratios = plain
            .iter()
            .zip(annotated)
            .map(|(plain, annotated)| annotated / plain);
        let ratio = median(ratios.collect());
        let [plain, annotated] = times.map(median);
        println!(
            "cargo {}: plain {plain:.2} s, annotated {annotated:.2} s, ratio {ratio:.2}",
            command.join(" "),
        );
    }
    Ok(())
}

/// The package's code, with the attributes or without.
fn source(annotated: bool) -> String {
    let mut source = String::from(
        "use serde::{Deserialize, Serialize};\nmod service;\npub use service::*;\n\
         pub type Call<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>>;\n",
    );
    if annotated {
        source.push_str(
            "use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};\n",
        );
    }
    for entity in 0..ENTITIES {
        let entity_source = ENTITY
            .replace("EntityN", &format!("Entity{entity}"))
            .replace("_N", &format!("_{entity}"))
            .replace("-N", &format!("-{entity}"));
        for line in entity_source.lines() {
            if annotated {
                source.push_str(line);
            } else if !line.starts_with("#[cache_") {
                source.push_str(&line.replace("#[cache_key] ", ""));
            }
            source.push('\n');
        }
    }
    source
}

fn write(place: &Path, package: &str, source: &str) -> Result<(), Box<dyn Error>> {
    let folder = place.join(package);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), source)?;
    fs::write(folder.join("src/service.rs"), SERVICE)?;
    let core = root().join("cache-core");
    fs::write(
        folder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             cache-core = {{ path = \"{}\" }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\
             tokio = {{ version = \"1\", features = [\"rt\"] }}\n",
            core.display()
        ),
    )?;
    Ok(())
}

fn build(place: &Path, package: &str, command: &[&str]) -> Result<Duration, Box<dyn Error>> {
    let source = place.join(package).join("src/lib.rs");
    fs::write(&source, fs::read(&source)?)?;
    let began = Instant::now();
    let built = Command::new(env!("CARGO"))
        .args(command)
        .args(["--quiet", "--offline", "--package", package])
        .current_dir(place)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .status()?;
    let time = began.elapsed();
    if built.success() {
        Ok(time)
    } else {
        Err(format!("`{package}` does not build").into())
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
