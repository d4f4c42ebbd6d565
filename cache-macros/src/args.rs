//! The attributes and their options.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, Meta, Path};

pub(crate) use self::values::{CacheRef, Time, When, ungrouped};
use crate::fallback::Errors;

mod foreign;
mod parse;
mod values;

/// Which of the attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Result,
    Put,
    Invalidate,
    InvalidateAll,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [
        Self::Result,
        Self::Put,
        Self::Invalidate,
        Self::InvalidateAll,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Result => "cache_result",
            Self::Put => "cache_put",
            Self::Invalidate => "cache_invalidate",
            Self::InvalidateAll => "cache_invalidate_all",
        }
    }

    /// Whether the function's value goes into the cache.
    pub(crate) const fn stores(self) -> bool {
        matches!(self, Self::Result | Self::Put)
    }

    /// The attribute that `path` names, however it is qualified.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let last = &path.segments.last()?.ident;
        Self::ALL.into_iter().find(|kind| last == kind.name())
    }
}

/// Every option and the attributes that have it.
pub(crate) const OPTIONS: [(&str, &[Kind]); 12] = {
    use Kind::{Invalidate, InvalidateAll, Put, Result};
    [
        ("cache", &Kind::ALL),
        ("key", &[Result, Put, Invalidate]),
        ("key_with", &[Put, Invalidate]),
        ("ttl", &[Result, Put]),
        ("ttl_with", &[Result, Put]),
        ("condition", &Kind::ALL),
        ("store_if", &[Result, Put]),
        ("invalidate_if", &[Invalidate, InvalidateAll]),
        ("when", &[Invalidate, InvalidateAll]),
        ("lock_timeout", &[Result]),
        ("manager", &Kind::ALL),
        ("crate", &Kind::ALL),
    ]
};

/// One of our attributes on a function.
pub(crate) struct Args {
    pub(crate) kind: Kind,
    /// The attribute as a place to blame.
    pub(crate) span: Span,
    /// How the attribute is named, if it has not been resolved yet; its import must stay used.
    pub(crate) path: Option<Path>,
    /// The names of the options, in the order written, repeated ones once.
    pub(crate) given: Vec<Ident>,
    /// Whether something stands where the cache should be named, right or wrong.
    pub(crate) cache_written: bool,
    pub(crate) cache: Option<CacheRef>,
    pub(crate) key: Option<Expr>,
    pub(crate) key_with: Option<Expr>,
    pub(crate) ttl: Option<Time>,
    pub(crate) ttl_with: Option<Expr>,
    pub(crate) condition: Option<Expr>,
    pub(crate) store_if: Option<Expr>,
    pub(crate) invalidate_if: Option<Expr>,
    pub(crate) when: Option<(When, Expr)>,
    pub(crate) lock_timeout: Option<Time>,
    pub(crate) manager: Option<Expr>,
    pub(crate) krate: Option<Path>,
}

impl Args {
    fn new(kind: Kind, span: Span, path: Option<Path>) -> Self {
        Self {
            kind,
            span,
            path,
            given: Vec::new(),
            cache_written: false,
            cache: None,
            key: None,
            key_with: None,
            ttl: None,
            ttl_with: None,
            condition: None,
            store_if: None,
            invalidate_if: None,
            when: None,
            lock_timeout: None,
            manager: None,
            krate: None,
        }
    }

    /// The options of the attribute that the compiler is expanding.
    pub(crate) fn running(kind: Kind, tokens: TokenStream, errors: &mut Errors) -> Self {
        Self::new(kind, Span::call_site(), None).parse(tokens, errors)
    }

    /// The options of another of our attributes, found on the same function.
    pub(crate) fn stacked(kind: Kind, attribute: Attribute, errors: &mut Errors) -> Self {
        let path = attribute.path().clone();
        let args = Self::new(
            kind,
            path.segments[path.segments.len() - 1].ident.span(),
            Some(path),
        );
        match attribute.meta {
            Meta::Path(_) => args,
            Meta::List(list) => args.parse(list.tokens, errors),
            Meta::NameValue(pair) => {
                let name = kind.name();
                errors.at(
                    pair,
                    format!(
                        "write the options of `{name}` in parentheses: `#[{name}(cache = \"…\")]`"
                    ),
                );
                args
            }
        }
    }

    /// The options that are given the value, with their names.
    pub(crate) fn over_the_value(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        [
            ("key_with", &self.key_with),
            ("ttl_with", &self.ttl_with),
            ("store_if", &self.store_if),
            ("invalidate_if", &self.invalidate_if),
        ]
        .into_iter()
        .filter_map(|(name, expr)| Some((name, expr.as_ref()?)))
    }

    /// Whether the key is made of the parameters.
    pub(crate) fn has_implicit_key(&self) -> bool {
        self.kind != Kind::InvalidateAll && self.key.is_none() && self.key_with.is_none()
    }
}

#[cfg(test)]
mod tests;
