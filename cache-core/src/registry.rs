//! What the annotated functions of a program say about their caches, and whether it fits.
//!
//! Every attribute leaves its [`Site`] in a list that the linker collects, so that a program can be checked before a function is
//! called.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

mod key_part;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

pub use self::key_part::KeyPart;
use self::key_part::fit;

use crate::{
    config::{Configured, EffectiveConfig},
    site::{Attribute, Site},
    value::ValueType,
};

inventory::collect!(&'static Site);

/// The types an attribute stands for, as far as they could be named in an item.
#[derive(Debug)]
pub struct Types {
    pub value: Option<ValueType>,
    pub key: Option<Vec<KeyPart>>,
}

impl Types {
    /// Of an attribute that names none.
    pub fn none() -> Self {
        Self {
            value: None,
            key: None,
        }
    }

    pub fn of_key(key: &[KeyPart]) -> Self {
        Self::of_entry(None, key)
    }

    pub fn of_value(value: Option<ValueType>) -> Self {
        Self { value, key: None }
    }

    pub fn of_entry(value: Option<ValueType>, key: &[KeyPart]) -> Self {
        Self {
            value,
            key: Some(key.to_vec()),
        }
    }
}

/// Something about the caches of a program that is likely a mistake. `Display` is the sentence.
///
/// ```standalone_crate
/// use cache_core::{CacheConfig, CacheManager, cache_result};
///
/// #[cache_result(cache = "price")]
/// async fn price(product: u64) -> u64 {
///     2990
/// }
///
/// let caches = CacheManager::builder().cache("pirce", CacheConfig::memory()).build()?;
/// let warnings: Vec<_> = caches.check()?.iter().map(ToString::to_string).collect();
/// assert!(warnings[0].contains("did you mean `price`?"));
/// # Ok::<(), cache_core::CacheError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
}

/// One function's use of a cache.
struct Use {
    site: &'static Site,
    place: String,
    types: Types,
}

/// Holds what the attributes say against a configuration.
pub(crate) fn check(configured: &Configured) -> Report {
    let mut uses: BTreeMap<&str, Vec<Use>> = BTreeMap::new();
    // Which manager a function with `manager = …` uses is not known here, but that it names its cache is.
    let mut named = BTreeSet::new();
    for site in inventory::iter::<&'static Site> {
        named.insert(site.cache());
        // One that names its manager is checked when it is called.
        if !site.is_managed() {
            uses.entry(site.cache()).or_default().push(Use {
                site,
                place: format!("`{}` (line {})", site.function(), site.line()),
                types: site.types(),
            });
        }
    }
    let mut report = Report::default();
    for (cache, uses) in &mut uses {
        // The linker's order is not the program's; two runs are to say the same.
        uses.sort_by(|one, other| one.place.cmp(&other.place));
        check_values(cache, uses, &configured.of(cache), &mut report);
        check_keys(cache, uses, &mut report);
    }
    check_names(&uses, &named, configured, &mut report);
    check_invalidated_names(&uses, &named, &mut report);
    report
}

fn check_values(cache: &str, uses: &[Use], config: &EffectiveConfig, report: &mut Report) {
    let declared = config
        .value_type
        .map(|value| ("its `value_type`".to_owned(), value));
    let found = uses
        .iter()
        .filter_map(|user| Some((user.place.clone(), user.types.value?)));
    let mut types = declared.into_iter().chain(found);
    let Some((first, value)) = types.next() else {
        return;
    };
    for (place, other) in types {
        if other != value {
            report.errors.push(format!(
                "cache `{cache}` has two value types: {first} says `{}`, {place} says `{}`; use one type, or two caches",
                value.name(),
                other.name()
            ));
        }
    }
    if config.backend().is_some() {
        for user in uses {
            if let Some(value) = user.types.value.filter(ValueType::is_not_serializable) {
                report.errors.push(format!(
                    "cache `{cache}` is on a backend, and {} returns `{}`, which cannot be stored there; derive `Serialize` and `Deserialize` for it, or keep the cache in memory",
                    user.place,
                    value.name()
                ));
            }
        }
    }
}

fn check_keys(cache: &str, uses: &[Use], report: &mut Report) {
    let stored: Vec<_> = uses
        .iter()
        .filter(|user| user.site.attribute().stores())
        .collect();
    // Where a key is not known, anything may fit.
    if stored.is_empty() || stored.iter().any(|user| user.types.key.is_none()) {
        return;
    }
    for user in uses
        .iter()
        .filter(|user| user.site.attribute() == Attribute::Invalidate)
    {
        let Some(key) = &user.types.key else { continue };
        let fits = |reader: &&Use| {
            let parts = reader.types.key.as_deref();
            parts.is_some_and(|parts| fit(parts, key))
        };
        if !stored.iter().any(fits) {
            let readers: Vec<_> = stored.iter().map(|reader| describe(reader)).collect();
            report.warnings.push(Warning(format!(
                "{} may never find what it is to invalidate: in cache `{cache}` no reader has a key of that shape, only {}; mark the same parts with `#[cache_key]`, in the same order, or write `key = …`",
                describe(user),
                readers.join(", ")
            )));
        }
    }
}

fn describe(user: &Use) -> String {
    let parts: Vec<_> = user
        .types
        .key
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    format!("{} with key ({})", user.place, parts.join(", "))
}

fn check_names(
    uses: &BTreeMap<&str, Vec<Use>>,
    named: &BTreeSet<&str>,
    configured: &Configured,
    report: &mut Report,
) {
    for name in configured.names().filter(|name| !named.contains(name)) {
        let near = nearest(name, named.iter().copied())
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        report.warnings.push(Warning(format!(
            "cache `{name}` is configured, but no function names it{near}"
        )));
    }
    for (cache, uses) in uses.iter().filter(|(cache, _)| !configured.contains(cache)) {
        if let Some(near) = nearest(cache, configured.names()) {
            report.warnings.push(Warning(format!(
                "cache `{cache}` of {} is not configured and gets the defaults; did you mean `{near}`?",
                uses[0].place
            )));
        }
    }
}

/// Caches that are invalidated and that nobody stores in. That may be right, where another program or a handle does; where
/// another name is near, it is likely a slip.
fn check_invalidated_names(
    uses: &BTreeMap<&str, Vec<Use>>,
    named: &BTreeSet<&str>,
    report: &mut Report,
) {
    for (cache, uses) in uses {
        if uses.iter().any(|user| user.site.attribute().stores()) {
            continue;
        }
        if let Some(near) = nearest(cache, named.iter().copied().filter(|name| name != cache)) {
            report.warnings.push(Warning(format!(
                "{} invalidates cache `{cache}`, in which no function stores; did you mean `{near}`?",
                uses[0].place
            )));
        }
    }
}

/// The name that `name` may have been meant to be.
fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.len() / 3;
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}
