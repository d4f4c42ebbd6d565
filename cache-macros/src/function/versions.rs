//! Conditional compilation within a function: the compiler has not decided on it yet when an attribute of the function runs.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, Meta, Path, Token, parse::Parser, punctuated::Punctuated};

use super::{Function, params::is_mark};
use crate::args::Kind;

// Input:  async fn f(#[cfg(unix)] id: u64) -> Ret { body }
// Output: #[cfg(unix)] async fn f(id: u64) -> Ret { body }
//         #[cfg(not(unix))] async fn f() -> Ret { body }
/// The function as it is under every outcome of the conditions on its parameters, its marks and our attributes on it.
pub(crate) fn versions(function: Function) -> Vec<Function> {
    let attributes = function.sig.inputs.iter().flat_map(attributes_of);
    let conditions = attributes.filter_map(|attr| condition(attr, true)).chain(
        function
            .attrs
            .iter()
            .filter_map(|attr| condition(attr, false)),
    );
    let Some(Condition { predicate, .. }) = { conditions }.next() else {
        return vec![function];
    };
    [true, false]
        .into_iter()
        .flat_map(|holds| {
            let mut version = decide(function.clone(), &predicate, holds);
            let cfg = if holds {
                quote!(#[cfg(#predicate)])
            } else {
                quote!(#[cfg(not(#predicate))])
            };
            let cfg = Attribute::parse_outer.parse2(cfg).unwrap_or_default();
            version.attrs.splice(0..0, cfg);
            versions(version)
        })
        .collect()
}

/// The attributes that say when there is this version of the function.
pub(crate) fn cfgs(function: &Function) -> Vec<Attribute> {
    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
    function.attrs.iter().filter(is_cfg).cloned().collect()
}

struct Condition {
    predicate: TokenStream,
    /// What `cfg_attr` adds; `None` of `cfg`.
    adds: Option<Vec<Meta>>,
}

/// The condition that an attribute states, if the framework has to know how it ends.
fn condition(attr: &Attribute, on_input: bool) -> Option<Condition> {
    let Meta::List(list) = &attr.meta else {
        return None;
    };
    if list.path.is_ident("cfg") && on_input {
        let predicate = list.tokens.clone();
        return Some(Condition {
            predicate,
            adds: None,
        });
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut metas = metas.parse2(list.tokens.clone()).ok()?.into_iter();
    let predicate = metas.next()?.into_token_stream();
    let adds: Vec<_> = metas.collect();
    let ours = |path: &Path| {
        if on_input {
            is_mark(path)
        } else {
            Kind::of(path).is_some()
        }
    };
    adds.iter()
        .any(|meta| ours(meta.path()))
        .then_some(Condition {
            predicate,
            adds: Some(adds),
        })
}

fn decide(mut function: Function, predicate: &TokenStream, holds: bool) -> Function {
    let inputs = std::mem::take(&mut function.sig.inputs);
    function.sig.inputs = inputs
        .into_pairs()
        .filter_map(|mut pair| {
            let attrs = match pair.value_mut() {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            decide_attrs(attrs, true, predicate, holds).then_some(pair)
        })
        .collect();
    decide_attrs(&mut function.attrs, false, predicate, holds);
    function
}

/// Resolves what depends on the predicate; says whether what bears the attributes stays.
fn decide_attrs(
    attrs: &mut Vec<Attribute>,
    on_input: bool,
    predicate: &TokenStream,
    holds: bool,
) -> bool {
    let mut stays = true;
    let text = predicate.to_string();
    for attr in std::mem::take(attrs) {
        match condition(&attr, on_input).filter(|found| found.predicate.to_string() == text) {
            None => attrs.push(attr),
            Some(Condition { adds: None, .. }) => stays &= holds,
            Some(Condition {
                adds: Some(metas), ..
            }) if holds => {
                attrs.extend(metas.into_iter().map(|meta| Attribute {
                    meta,
                    ..attr.clone()
                }));
            }
            Some(_) => {}
        }
    }
    stays
}

fn attributes_of(input: &FnArg) -> &[Attribute] {
    match input {
        FnArg::Receiver(receiver) => &receiver.attrs,
        FnArg::Typed(typed) => &typed.attrs,
    }
}
