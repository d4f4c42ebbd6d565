//! The grammar of the options: `name = value` pairs between the parentheses of an attribute.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, LitStr, Meta, Path, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

pub(crate) use self::values::{CacheRef, Time, When, ungrouped};
use self::values::{cache, krate, time, when};
use crate::{fallback::Errors, literal::nearest};

mod foreign;
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

    /// Whether the key is made of the parameters.
    pub(crate) fn has_implicit_key(&self) -> bool {
        self.kind != Kind::InvalidateAll && self.key.is_none() && self.key_with.is_none()
    }

    fn parse(mut self, tokens: TokenStream, errors: &mut Errors) -> Self {
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                match self.option(input) {
                    Ok((name, value)) => self.set(name, value, errors),
                    Err(error) => {
                        errors.push(error);
                        // The next comma is the next place where an option can begin.
                        while !input.is_empty() && !input.peek(Token![,]) {
                            input.parse::<TokenTree>()?;
                        }
                    }
                }
                if !input.is_empty()
                    && let Err(error) = input.parse::<Token![,]>()
                {
                    errors.push(error);
                    input.parse::<TokenStream>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(tokens) {
            errors.push(error);
        }
        self
    }

    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<(Ident, Expr)> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            self.mistook_for_cache(text.span());
            return Err(syn::Error::new_spanned(
                &text,
                format!("write `cache = {}`", text.token()),
            ));
        }
        let name = Ident::parse_any(input).map_err(|error| {
            syn::Error::new(
                error.span(),
                "write the name of an option, as in `cache = \"…\"`",
            )
        })?;
        if !input.peek(Token![=]) {
            let known = OPTIONS.iter().any(|(option, _)| name == option);
            let message = if !known && input.is_empty() && self.given.is_empty() {
                self.mistook_for_cache(name.span());
                format!("write `cache = \"{name}\"`")
            } else {
                if name == "cache" {
                    self.mistook_for_cache(name.span());
                }
                format!("write `{name} = …`")
            };
            return Err(syn::Error::new_spanned(&name, message));
        }
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(syn::Error::new_spanned(
                &name,
                format!("`{name}` has no value: write `{name} = …`"),
            ));
        }
        Ok((name, input.parse()?))
    }

    fn set(&mut self, name: Ident, value: Expr, errors: &mut Errors) {
        let text = name.to_string();
        if !OPTIONS.iter().any(|(option, _)| *option == text) {
            if foreign::cache(&text) {
                self.mistook_for_cache(name.span());
            }
            errors.at(&name, self.unknown(&text));
            return;
        }
        if self.given.contains(&name) {
            errors.at(&name, format!("`{name}` is given twice: keep one"));
            return;
        }
        match text.as_str() {
            "cache" => self.cache = cache(value, errors),
            "key" => self.key = Some(value),
            "key_with" => self.key_with = Some(value),
            "ttl" => self.ttl = time(value, errors),
            "ttl_with" => self.ttl_with = Some(value),
            "condition" => self.condition = Some(value),
            "store_if" => self.store_if = Some(value),
            "invalidate_if" => self.invalidate_if = Some(value),
            "when" => self.when = when(value, errors),
            "lock_timeout" => self.lock_timeout = time(value, errors),
            "manager" => self.manager = Some(value),
            _ => self.krate = krate(value, errors),
        }
        self.given.push(name);
    }

    /// What was meant to name the cache is a mistake already: that none is named is not said as well.
    fn mistook_for_cache(&mut self, span: Span) {
        self.given.push(Ident::new("cache", span));
    }

    fn unknown(&self, word: &str) -> String {
        if let Some(advice) = foreign::advice(word, self.kind) {
            return format!("unknown option `{word}`: {advice}");
        }
        let own: Vec<&str> = OPTIONS
            .iter()
            .filter(|(_, kinds)| kinds.contains(&self.kind))
            .map(|(option, _)| *option)
            .collect();
        match nearest(word, own.iter().copied()) {
            Some(option) => format!("unknown option `{word}`: did you mean `{option}`?"),
            None => format!(
                "unknown option `{word}`: `{}` has {}",
                self.kind.name(),
                own.join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests;
