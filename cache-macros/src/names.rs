//! The names in tokens, as far as tokens can tell.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};

/// The identifiers in `tokens` that can be local names: not what follows a dot.
pub(crate) fn names(tokens: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    let mut after_dot = false;
    for tree in tokens {
        match &tree {
            TokenTree::Ident(ident) if !after_dot => names.push(ident.clone()),
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
        after_dot = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.' && punct.spacing() == Spacing::Alone);
    }
    names
}

/// The names of which fields or methods are used.
pub(crate) fn names_before_dots(tokens: TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    let mut last = None;
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                found.extend(names_before_dots(group.stream()));
                last = None;
            }
            TokenTree::Ident(ident) => last = Some(ident),
            TokenTree::Punct(punct) if punct.as_char() == '.' => found.extend(last.take()),
            _ => last = None,
        }
    }
    found
}
