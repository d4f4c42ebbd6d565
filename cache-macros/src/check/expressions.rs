//! What is wrong with an option whose value is an expression, as far as tokens can tell.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{
    Expr, ExprAsync, ExprAwait, ExprClosure, ExprLit, ExprReturn, ExprTry, Item, Lit,
    ext::IdentExt,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

use crate::{
    args::{Args, OPTIONS, ungrouped},
    fallback::Errors,
    function::Param,
    names::names,
};

/// The options that are made of the arguments.
pub(super) fn over_the_arguments(params: &[Param], layer: &Args, errors: &mut Errors) {
    match layer.condition.as_ref().map(ungrouped) {
        Some(Expr::Lit(ExprLit { lit, .. })) if !matches!(lit, Lit::Bool(_)) => errors.at(
            lit,
            "`condition` is a `bool` made of the arguments: write `condition = id > 3`, without quotes",
        ),
        Some(closure @ Expr::Closure(_)) => errors.at(
            closure,
            "`condition` is a `bool` made of the arguments: write `condition = id > 3`, without `|…|`",
        ),
        _ => {}
    }
    if let Some(literal @ Expr::Lit(_)) = layer.manager.as_ref().map(ungrouped) {
        errors.at(
            literal,
            "`manager` is a `CacheManager`: write `manager = self.caches`",
        );
    }
    match layer.key.as_ref().map(ungrouped) {
        Some(closure @ Expr::Closure(_)) => {
            let instead = if OPTIONS
                .iter()
                .any(|(option, kinds)| *option == "key_with" && kinds.contains(&layer.kind))
            {
                "; from the value it is made by `key_with = |value| …`"
            } else {
                ""
            };
            errors.at(
                closure,
                format!("`key` is made of the arguments: write `key = id`, without `|…|`{instead}"),
            );
        }
        Some(key) => texts(params, key, errors),
        None => {}
    }
}

/// Texts in a key that were meant to stand for a parameter: `"id"`, `"#id"`, `"user-{id}"`, alone or in a list that does not have the
/// parameter itself.
fn texts(params: &[Param], key: &Expr, errors: &mut Errors) {
    let (parts, alone): (Vec<_>, _) = match key {
        Expr::Tuple(tuple) => (tuple.elems.iter().collect(), false),
        Expr::Array(array) => (array.elems.iter().collect(), true),
        key => (vec![key], true),
    };
    let in_key = names(key.to_token_stream());
    for part in parts {
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = ungrouped(part)
        else {
            continue;
        };
        let value = text.value();
        let means = |name: &&Ident| {
            let word = name.unraw().to_string();
            let spelt = (value == word && alone)
                || value
                    .strip_prefix('#')
                    .is_some_and(|rest| begins_with(rest, &word))
                || value
                    .split('{')
                    .skip(1)
                    .any(|rest| begins_with(rest, &word));
            spelt && !in_key.contains(name)
        };
        if let Some(name) = params.iter().filter_map(Param::name).find(means) {
            let meant = match name.unraw() == value && matches!(key, Expr::Lit(_)) {
                true => format!(", or `({},)` if it is to be that", text.token()),
                false => String::new(),
            };
            errors.at(
                text,
                format!("a text is the same for every call: write `{name}`, without quotes{meant}"),
            );
        }
    }
}

/// Whether a text begins with a word, and not with a longer one.
fn begins_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The options that are given the value.
pub(super) fn over_the_value(params: &[Param], layer: &Args, errors: &mut Errors) {
    for (option, expr) in layer.over_the_value() {
        let is_function = match ungrouped(expr) {
            Expr::Closure(closure) if closure.inputs.len() != 1 => {
                errors.at(
                    closure,
                    format!("`{option}` is given the value and nothing else: write `|value| …`"),
                );
                continue;
            }
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_none_or(|name| params.iter().all(|param| param.name() != Some(name))),
            Expr::Lit(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Tuple(_) | Expr::Array(_) => {
                false
            }
            _ => true,
        };
        if let Expr::Closure(closure) = ungrouped(expr) {
            let within = Within::of(&closure.body);
            let waits = closure.asyncness.map(|token| token.span);
            if let Some(waits) = waits.or(within.waits) {
                errors.at_span(
                    waits,
                    format!(
                        "`{option}` is not async: write `|value| …`, without `async` and `.await`"
                    ),
                );
            }
            if let Some(leaves) = within.leaves.filter(|_| option == "key_with") {
                errors.at_span(
                    leaves,
                    "`key_with` ends in the key, a tuple for several parts: make it the last expression, without `return` and `?`",
                );
            }
        }
        if !is_function {
            errors.at(
                expr,
                format!(
                    "`{option}` is a function of the value: write `|value| …`, or the path of one"
                ),
            );
        }
    }
}

/// Where the body of a closure leaves it before its end, and where it waits.
#[derive(Default)]
struct Within {
    leaves: Option<Span>,
    waits: Option<Span>,
}

impl Within {
    fn of(body: &Expr) -> Self {
        let mut within = Self::default();
        within.visit_expr_mut(&mut body.clone());
        within
    }
}

impl VisitMut for Within {
    fn visit_expr_return_mut(&mut self, expr: &mut ExprReturn) {
        self.leaves.get_or_insert(expr.return_token.span);
        visit_mut::visit_expr_return_mut(self, expr);
    }

    fn visit_expr_try_mut(&mut self, expr: &mut ExprTry) {
        visit_mut::visit_expr_try_mut(self, expr);
        self.leaves.get_or_insert(expr.question_token.span());
    }

    fn visit_expr_await_mut(&mut self, expr: &mut ExprAwait) {
        visit_mut::visit_expr_await_mut(self, expr);
        self.waits.get_or_insert(expr.await_token.span);
    }

    // They are left by their own.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}

    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
