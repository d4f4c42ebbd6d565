//! Every rule that takes more than one option to break; all mistakes are found in one go.

use quote::ToTokens;

pub(crate) use self::signature::not_a_function;
use self::{
    expressions::{over_the_arguments, over_the_value},
    signature::{asynchronous, returned_value},
};
use crate::{
    args::{Args, Kind, OPTIONS, When},
    fallback::Errors,
    function::{Function, Param, key_params},
    manifest,
    names::names,
};

mod expressions;
mod signature;

pub(crate) fn check(function: &Function, params: &[Param], layers: &[Args], errors: &mut Errors) {
    for layer in layers {
        options(layer, errors);
        over_the_arguments(params, layer, errors);
        over_the_value(params, layer, errors);
    }
    if layers.iter().all(|layer| layer.krate.is_none())
        && let Some(complaint) = manifest::complaint()
    {
        errors.at_span(layers[0].span, complaint);
    }
    one_store(layers, errors);
    for layer in layers.iter().filter(|layer| !layer.kind.stores()) {
        invalidation(layer, layers, errors);
    }
    marks(params, layers, errors);
    asynchronous(function, layers[0].kind, errors);
    if let Some(store) = store(layers) {
        returned_value(function, store.kind, errors);
    }
    names_before_patterns(params, layers, errors);
}

/// The layer that stores the function's value, if there is one.
pub(crate) fn store(layers: &[Args]) -> Option<&Args> {
    layers.iter().find(|layer| layer.kind.stores())
}

/// When an invalidation runs: an entry that the function is about to store must not be removed afterwards.
pub(crate) fn when(layer: &Args, layers: &[Args]) -> When {
    match &layer.when {
        _ if fills_same_cache(layer, layers).is_some() => When::Before,
        Some((when, _)) => *when,
        None => When::Success,
    }
}

fn fills_same_cache<'a>(layer: &Args, layers: &'a [Args]) -> Option<&'a Args> {
    let cache = layer.cache.as_ref()?;
    store(layers).filter(|store| {
        store
            .cache
            .as_ref()
            .is_some_and(|stored| stored.same(cache))
    })
}

fn options(layer: &Args, errors: &mut Errors) {
    let attribute = layer.kind.name();
    if !layer.cache_written {
        errors.at_span(
            layer.span,
            format!("`{attribute}` needs a cache: write `cache = \"…\"`"),
        );
    }
    for name in &layer.given {
        let kinds = OPTIONS
            .iter()
            .find(|(option, _)| name == option)
            .map_or(&[][..], |(_, kinds)| kinds);
        if kinds.contains(&layer.kind) {
            continue;
        }
        if name == "key_with" && layer.kind == Kind::Result {
            errors.at(
                name,
                "`key_with` takes the key from the value that `cache_result` is about to look for: write `key = …` over the arguments",
            );
            continue;
        }
        let owners: Vec<_> = kinds
            .iter()
            .map(|kind| format!("`{}`", kind.name()))
            .collect();
        errors.at(
            name,
            format!(
                "`{name}` is not an option of `{attribute}`: remove it here, it goes on {}",
                owners.join(", ")
            ),
        );
    }
    if let (Some(_), Some(key_with)) = (&layer.key, &layer.key_with) {
        errors.at(
            key_with,
            "`key` and `key_with` both say what the key is: keep one",
        );
    }
}

fn one_store(layers: &[Args], errors: &mut Errors) {
    let mut first: Option<Kind> = None;
    for layer in layers.iter().filter(|layer| layer.kind.stores()) {
        let name = layer.kind.name();
        match first {
            None => first = Some(layer.kind),
            Some(kind) if kind == layer.kind => {
                errors.at_span(layer.span, format!("a function has at most one `{name}`: remove one"));
            }
            Some(_) => errors.at_span(
                layer.span,
                "`cache_result` and `cache_put` exclude each other: keep `cache_result` to reuse what is stored, or `cache_put` to replace it at every call",
            ),
        }
    }
}

/// A key that nobody asks for.
fn marks(params: &[Param], layers: &[Args], errors: &mut Errors) {
    if layers.iter().any(|layer| layer.kind != Kind::InvalidateAll) {
        return;
    }
    for param in params.iter().filter(|param| param.mark.is_some()) {
        errors.at(
            &param.pat,
            "`cache_invalidate_all` has no key: remove `#[cache_key]`, or write `cache_invalidate` for one entry",
        );
    }
}

fn invalidation(layer: &Args, layers: &[Args], errors: &mut Errors) {
    if let Some((when, written)) = &layer.when
        && *when != When::Before
        && let Some(store) = fills_same_cache(layer, layers)
    {
        let stores = store.kind.name();
        errors.at(
            written,
            format!("`{stores}` on this function fills the same cache, so this runs before the body: write `when = \"before\"` or leave `when` out"),
        );
        return;
    }
    if when(layer, layers) == When::Before {
        for (name, given) in [
            ("key_with", &layer.key_with),
            ("invalidate_if", &layer.invalidate_if),
        ] {
            if let Some(expr) = given {
                errors.at(
                    expr,
                    format!("`{name}` looks at the value, and this invalidation runs before there is one: use the arguments, in `key` or `condition`"),
                );
            }
        }
    }
}

/// The parameters of the key that have to be given a name of ours, since they are taken apart by a pattern.
pub(crate) fn patterns_in_key<'a>(params: &'a [Param], layers: &[Args]) -> Vec<&'a Param> {
    if layers.iter().any(Args::has_implicit_key) {
        key_params(params)
            .filter(|param| param.name().is_none())
            .collect()
    } else {
        Vec::new()
    }
}

/// The key is made of the whole argument, so what decides whether there is a key comes before the pattern takes it apart.
fn names_before_patterns(params: &[Param], layers: &[Args], errors: &mut Errors) {
    let bound: Vec<_> = patterns_in_key(params, layers)
        .into_iter()
        .flat_map(Param::variables)
        .collect();
    for layer in layers.iter().filter(|layer| layer.has_implicit_key()) {
        for (option, expr) in [("condition", &layer.condition), ("manager", &layer.manager)] {
            for name in names(expr.to_token_stream())
                .into_iter()
                .filter(|name| bound.contains(name))
            {
                errors.at(
                    &name,
                    format!("`{name}` comes from a pattern whose argument is in the key, `{option}` cannot use it: say what the key is with `key = …`, or take the argument apart in the body"),
                );
            }
        }
    }
}
