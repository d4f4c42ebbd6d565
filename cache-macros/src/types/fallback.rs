//! What stands in for types that are not found where types are named.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::Lifetime;

use crate::expand::located;

pub(super) type Tree = BTreeMap<String, Fallback>;

/// What is declared under a name that may not be found.
#[derive(Clone)]
pub(super) enum Fallback {
    Type {
        name: Ident,
        lifetimes: usize,
        types: usize,
    },
    Module {
        name: Ident,
        items: Tree,
    },
}

impl Fallback {
    pub(super) fn declare(&self, span: Span) -> TokenStream {
        match self {
            Self::Type {
                name,
                lifetimes,
                types,
            } => {
                let lifetimes: Vec<_> = (0..*lifetimes)
                    .map(|i| Lifetime::new(&format!("'a{i}"), span))
                    .collect();
                let types: Vec<_> = (0..*types)
                    .map(|i| format_ident!("A{i}", span = span))
                    .collect();
                let name = located(name.to_token_stream());
                quote_spanned! {span=>
                    pub struct #name<#(#lifetimes,)* #(#types: ?::core::marker::Sized = (),)*>(
                        #(::core::marker::PhantomData<&#lifetimes ()>,)*
                        #(::core::marker::PhantomData<#types>,)*
                    );
                }
            }
            Self::Module { name, items } => {
                let items = items.values().map(|item| item.declare(span));
                let name = located(name.to_token_stream());
                quote_spanned!(span=> pub mod #name { #(#items)* })
            }
        }
    }
}

/// Whether `path` could be declared beside what is there: a name is a type or a module, not both.
pub(super) fn insert(tree: &mut Tree, path: &[Ident], lifetimes: usize, types: usize) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    let (key, name) = (first.to_string(), first.clone());
    if rest.is_empty() {
        match tree.entry(key).or_insert(Fallback::Type {
            name,
            lifetimes,
            types,
        }) {
            Fallback::Type {
                lifetimes: most_lifetimes,
                types: most_types,
                ..
            } => {
                *most_lifetimes = lifetimes.max(*most_lifetimes);
                *most_types = types.max(*most_types);
                true
            }
            Fallback::Module { .. } => false,
        }
    } else {
        match tree.entry(key).or_insert(Fallback::Module {
            name,
            items: Tree::new(),
        }) {
            Fallback::Type { .. } => false,
            Fallback::Module { items, .. } => insert(items, rest, lifetimes, types),
        }
    }
}
