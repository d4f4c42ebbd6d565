//! The attributes of `cache-core`, which re-exports them; add that crate instead of this one.
//!
//! - [`macro@cache_result`]: what the function returned for these arguments is returned again
//! - [`macro@cache_put`]: the function always runs, and its value replaces what is stored
//! - [`macro@cache_invalidate`]: the entry of these arguments is removed
//! - [`macro@cache_invalidate_all`]: all entries of a cache are removed
//!
//! They go on `async` functions and methods: free, inherent, of traits and of their implementations, `#[async_trait]` or not.
//!
//! # Keys
//! The key of an entry is made of the function's arguments: of those marked `#[cache_key]`, in the order of the signature,
//! else of all; `self` is never part of it. Without parameters there is one entry. An argument that is a pattern, `_`
//! included, counts as a whole. `#[cache_key(hash)]` has the argument stored as a digest. Arguments have their values from
//! before the body, and must be `Serialize`. With `key = …` the attribute has a key of its own. The name of the function is
//! not part of the key, so functions of one cache share its entries.
//!
//! # Order
//! In whatever order they are written, on one function this happens: invalidations with `when = "before"` (whole caches
//! first), `cache_result`'s look-up, the body, the store, the other invalidations, whether or not the body had to run. An
//! invalidation of the same cache that the function fills happens before it. All options over the arguments are evaluated
//! before any of this, nothing at all before the future is first polled. Only where a function that returns
//! `Box::pin(async move { … })` has statements before that, they run when it is called, and the options are evaluated then.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

use crate::{
    args::{Args, Kind},
    fallback::Errors,
    function::{Function, versions::versions},
};

mod args;
mod check;
mod expand;
mod fallback;
mod function;
mod literal;
mod manifest;
mod names;
mod spelling;
mod types;

#[cfg(test)]
mod tests;

/// Returns what is stored for the arguments; else runs the function and stores what it returns.
///
#[doc = include_str!("../docs/cache_result.md")]
#[proc_macro_attribute]
pub fn cache_result(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Result, args.into(), item.into()).into()
}

/// Runs the function and stores what it returns in place of what was there.
///
#[doc = include_str!("../docs/cache_put.md")]
#[proc_macro_attribute]
pub fn cache_put(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Put, args.into(), item.into()).into()
}

/// Removes the entry of the arguments, so that the next reader loads it anew.
///
#[doc = include_str!("../docs/cache_invalidate.md")]
#[proc_macro_attribute]
pub fn cache_invalidate(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Invalidate, args.into(), item.into()).into()
}

/// Removes all entries of a cache, at the same cost for ten as for ten million.
///
#[doc = include_str!("../docs/cache_invalidate_all.md")]
#[proc_macro_attribute]
pub fn cache_invalidate_all(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::InvalidateAll, args.into(), item.into()).into()
}

/// From the attribute that runs first, and the item under it, to what the compiler sees.
fn attribute(kind: Kind, args: TokenStream2, item: TokenStream2) -> TokenStream2 {
    if expand::is_kept(&args) {
        return TokenStream2::new();
    }
    let function = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function,
        Err(error) => return fallback::item(check::not_a_function(kind, &item, &error), &item),
    };
    versions(function)
        .into_iter()
        .map(|version| expanded(kind, args.clone(), version))
        .collect()
}

fn expanded(kind: Kind, args: TokenStream2, mut function: Function) -> TokenStream2 {
    let mut errors = Errors::default();
    let mut layers = vec![Args::running(kind, args, &mut errors)];
    layers.extend(function.take_attributes(&mut errors));
    let params = function.take_params(&mut errors);
    check::check(&function, &params, &layers, &mut errors);
    match function.form() {
        Some(form) if errors.is_empty() => expand::expand(function, &params, &form, layers),
        _ => fallback::function(errors, function, &params, &layers),
    }
}
