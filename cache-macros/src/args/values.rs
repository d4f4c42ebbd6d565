//! What the values of options may be.

use std::time::Duration;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitStr, Path, spanned::Spanned};

use crate::{
    fallback::Errors,
    literal::{check_name, parse_duration},
};

/// What `cache = …` names.
pub(crate) enum CacheRef {
    Name(LitStr),
    Const(Path),
}

impl CacheRef {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Name(name) => name.span(),
            Self::Const(path) => path.span(),
        }
    }

    /// Whether both are the same cache as far as tokens can tell.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(a), Self::Name(b)) => a.value() == b.value(),
            (Self::Const(a), Self::Const(b)) => {
                a.to_token_stream().to_string() == b.to_token_stream().to_string()
            }
            _ => false,
        }
    }
}

/// A duration, read here or computed by the function.
pub(crate) enum Time {
    Literal(Duration),
    Expr(Expr),
}

/// When an invalidation runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Success,
    Always,
    Before,
}

/// The same by reference.
pub(crate) fn ungrouped(mut value: &Expr) -> &Expr {
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    value
}

/// Through the invisible parentheses around what a `macro_rules!` variable stands for.
fn ungroup(mut value: Expr) -> Expr {
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    value
}

pub(super) fn cache(value: Expr, errors: &mut Errors) -> Option<CacheRef> {
    match ungroup(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => {
            if let Err(message) = check_name(&name.value()) {
                errors.at(&name, message);
            }
            Some(CacheRef::Name(name))
        }
        Expr::Path(path) if path.qself.is_none() => {
            if path
                .path
                .segments
                .first()
                .is_some_and(|first| first.ident == "Self")
            {
                errors.at(
                    &path,
                    "`Self` cannot be named here: write the type's own name",
                );
            }
            Some(CacheRef::Const(path.path))
        }
        several @ Expr::Array(_) => {
            errors.at(
                several,
                "an attribute names one cache: write `cache = \"…\"`, and another attribute for each other cache",
            );
            None
        }
        other => {
            errors.at(
                other,
                "write the cache's name as a string, or the path of a `const` of type `CacheName`",
            );
            None
        }
    }
}

pub(super) fn time(option: &Ident, value: Expr, errors: &mut Errors) -> Option<Time> {
    match ungroup(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => match parse_duration(&text.value()) {
            Ok(duration) => Some(Time::Literal(duration)),
            Err(message) => {
                errors.at(text, message);
                None
            }
        },
        Expr::Lit(ExprLit { lit, .. }) if has_unit(&lit) => {
            let written = lit.to_token_stream().to_string();
            let message = parse_duration(&written).map_or_else(
                |message| message,
                |_| format!("write it in quotes: \"{written}\""),
            );
            errors.at(lit, message);
            None
        }
        number if is_number(&number) => {
            errors.at(
                &number,
                "a number has no unit: write a string, as in \"30s\", or a `Duration`",
            );
            None
        }
        closure @ Expr::Closure(_) => {
            errors.at(
                closure,
                format!(
                    "`{option}` is made of the arguments: write a `Duration`, without `|…|`{}",
                    if option == "ttl" {
                        "; from the value it is made by `ttl_with = |value| …`"
                    } else {
                        ""
                    }
                ),
            );
            None
        }
        expr => Some(Time::Expr(expr)),
    }
}

/// Whether a literal is `30s` without quotes.
fn has_unit(literal: &Lit) -> bool {
    match literal {
        Lit::Int(number) => !number.suffix().is_empty(),
        Lit::Float(number) => !number.suffix().is_empty(),
        _ => false,
    }
}

/// Whether an expression is made of numbers alone.
fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Unary(unary) => is_number(&unary.expr),
        Expr::Binary(binary) => is_number(&binary.left) && is_number(&binary.right),
        Expr::Paren(paren) => is_number(&paren.expr),
        _ => false,
    }
}

pub(super) fn when(value: Expr, errors: &mut Errors) -> Option<(When, Expr)> {
    let value = ungroup(value);
    let text = match &value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => text.value(),
        _ => String::new(),
    };
    let when = match text.as_str() {
        "success" => When::Success,
        "always" => When::Always,
        "before" => When::Before,
        _ => {
            errors.at(
                &value,
                "write `when = \"success\"`, `when = \"always\"` or `when = \"before\"`",
            );
            return None;
        }
    };
    Some((when, value))
}

pub(super) fn krate(value: Expr, errors: &mut Errors) -> Option<Path> {
    match ungroup(value) {
        Expr::Path(path) if path.qself.is_none() => Some(path.path),
        other => {
            errors.at(other, "write the path at which `cache_core` is found, as in `crate = my_facade::cache_core`");
            None
        }
    }
}
