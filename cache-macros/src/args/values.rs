//! What the values of options may be.

use std::time::Duration;

use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitStr, Path};

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
        other => {
            errors.at(
                other,
                "write the cache's name as a string, or the path of a `const` of type `CacheName`",
            );
            None
        }
    }
}

pub(super) fn time(value: Expr, errors: &mut Errors) -> Option<Time> {
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
        Expr::Lit(literal) => {
            let written = literal.to_token_stream().to_string();
            let message = if parse_duration(&written).is_ok() {
                format!("write it in quotes: \"{written}\"")
            } else {
                format!("`{written}` has no unit: write a string, as in \"30s\", or a `Duration`")
            };
            errors.at(literal, message);
            None
        }
        expr => Some(Time::Expr(expr)),
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
