//! What is wrong with an option whose value is an expression, as far as tokens can tell.

use proc_macro2::{Ident, Span};
use syn::{
    Expr, ExprAsync, ExprClosure, ExprLit, ExprReturn, ExprTry, Item, Lit, ext::IdentExt,
    spanned::Spanned, visit_mut::VisitMut,
};

use crate::{
    args::{Args, OPTIONS, ungrouped},
    fallback::Errors,
    function::Param,
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
    if let Some(Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    })) = layer.key.as_ref().map(ungrouped)
        && let Some(name) = named_in(&text.value(), params)
    {
        errors.at(
            text,
            format!("a text is the same key for every call: write `key = {name}`, without quotes"),
        );
    }
    if let Some(closure @ Expr::Closure(_)) = layer.key.as_ref().map(ungrouped) {
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
}

/// The parameter that a text was meant to stand for: `id`, `#id`, `{id}`, `user-{id}`.
fn named_in<'a>(text: &str, params: &'a [Param]) -> Option<&'a Ident> {
    let means = |name: &&Ident| {
        let name = name.unraw().to_string();
        text == name || text == format!("#{name}") || text.contains(&format!("{{{name}}}"))
    };
    params.iter().filter_map(Param::name).find(means)
}

/// The options that are given the value.
pub(super) fn over_the_value(params: &[Param], layer: &Args, errors: &mut Errors) {
    for (option, expr) in [
        ("key_with", &layer.key_with),
        ("ttl_with", &layer.ttl_with),
        ("store_if", &layer.store_if),
        ("invalidate_if", &layer.invalidate_if),
    ] {
        let Some(expr) = expr else { continue };
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
        if option == "key_with"
            && let Expr::Closure(closure) = ungrouped(expr)
            && let Some(leaves) = leaving(&closure.body)
        {
            errors.at_span(
                leaves,
                "`key_with` ends in the key, a tuple for several parts: make it the last expression, without `return` and `?`",
            );
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

/// Where an expression leaves the closure it is the body of, before its end.
fn leaving(body: &Expr) -> Option<Span> {
    let mut leaving = Leaving(None);
    leaving.visit_expr_mut(&mut body.clone());
    leaving.0
}

struct Leaving(Option<Span>);

impl VisitMut for Leaving {
    fn visit_expr_return_mut(&mut self, expr: &mut ExprReturn) {
        self.0.get_or_insert(expr.return_token.span);
    }

    fn visit_expr_try_mut(&mut self, expr: &mut ExprTry) {
        self.visit_expr_mut(&mut expr.expr);
        self.0.get_or_insert(expr.question_token.span());
    }

    // They are left by their own.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}

    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
