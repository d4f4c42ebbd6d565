//! Whether the package that is compiled has `cache_core` under that name.
//!
//! If it has not, the compiler would only say that there is no such crate, in code that the user does not see; what to do
//! about it has to be said here. When in doubt the compiler has the word.

use std::{env, fs, sync::OnceLock};

const MISSING: &str = "`cache_core` is not among the dependencies of this package by that name: \
                       write `crate = …` with the path at which it is found, as in `crate = my_facade::cache_core`";

/// What to say if `::cache_core` cannot be found.
pub(crate) fn complaint() -> Option<&'static str> {
    // One process compiles one package.
    static NAMED: OnceLock<bool> = OnceLock::new();
    let named = *NAMED.get_or_init(|| {
        // Without Cargo there is no manifest to look at.
        env::var_os("CARGO_MANIFEST_PATH")
            .and_then(|path| fs::read_to_string(path).ok())
            .is_none_or(|manifest| names_cache_core(&manifest))
    });
    (!named).then_some(MISSING)
}

/// Whether `cache-core` stands anywhere but in a value, where it is the package of a dependency by another name, or part of a
/// path.
fn names_cache_core(manifest: &str) -> bool {
    let mut before = "";
    manifest.split(['"', '\'']).any(|piece| {
        let key = before.trim_end().strip_suffix('=').map(str::trim_end);
        before = piece;
        match key {
            Some(key) if key.ends_with("name") => matches!(piece, "cache-core" | "cache_core"),
            Some(_) => false,
            None => piece.contains("cache-core") || piece.contains("cache_core"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::names_cache_core;

    #[test]
    fn a_dependency_by_its_own_name_is_found_however_it_is_written() {
        for manifest in [
            "[dependencies]\ncache-core = \"1\"",
            "[dependencies]\ncache-core.workspace = true",
            "[dependencies]\ncache_core = { path = \"../core\" }",
            "[dependencies]\n\"cache-core\" = \"1\"",
            "[dependencies.cache-core]\nversion = \"1\"",
            "[target.'cfg(unix)'.dependencies]\ncache-core = '1'",
            "[package]\nname = \"cache-core\"",
            "[dependencies]\ncaching = { package = \"cache-core\" }\ncache-core = \"2\"",
        ] {
            assert!(names_cache_core(manifest), "{manifest}");
        }
    }

    #[test]
    fn a_facade_or_another_name_is_not_it() {
        for manifest in [
            "[dependencies]\nfacade = \"1\"",
            "[dependencies]\ncaching = { package = \"cache-core\", version = \"1\" }",
            "[dependencies]\ncaching = { version = \"1\", package='cache-core' }",
            "[dependencies]\ncaching = { package = \"cache-core\", path = \"../cache-core\" }",
            "",
        ] {
            assert!(!names_cache_core(manifest), "{manifest}");
        }
    }
}
