//! What is wrong with the function itself, as far as tokens can tell.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{ReturnType, Type};

use crate::{
    args::Kind,
    fallback::Errors,
    function::{Body, Function},
    spelling::{
        borrows, find, first_type, is_boxed_future, is_future, is_result, is_stream, is_unsized,
        last_segment, opaque,
    },
};

/// What is wrong with an item that is not read as a function.
pub(crate) fn not_a_function(kind: Kind, item: &TokenStream, error: &syn::Error) -> Errors {
    let mut errors = Errors::default();
    let attribute = kind.name();
    let trees: Vec<_> = item.clone().into_iter().collect();
    let is_function = trees
        .windows(2)
        .any(|pair| matches!(pair, [TokenTree::Ident(word), TokenTree::Ident(_)] if word == "fn"));
    if is_function {
        errors.at_span(
            error.span(),
            format!("`{attribute}` cannot read this function: {error}"),
        );
    } else {
        errors.at_span(
            Span::call_site(),
            format!(
                "`{attribute}` goes on an async function: of an `impl` or a trait, on those within"
            ),
        );
    }
    errors
}

pub(super) fn asynchronous(function: &Function, kind: Kind, errors: &mut Errors) {
    let (attribute, sig) = (kind.name(), &function.sig);
    let name = &sig.ident;
    let statements = match &function.body {
        Body::None(semicolon) => {
            errors.at(
                semicolon,
                format!(
                    "`{attribute}` needs a body to run: put it on the implementations of `{name}`"
                ),
            );
            return;
        }
        Body::Block { statements, .. } => statements,
    };
    // What is told at the return type would not be helped by `async`.
    let told =
        |ty: &Type| find(ty, &is_stream).is_some() || opaque(ty).is_some_and(|ty| !is_future(ty));
    if function.form().is_some() || (kind.stores() && function.output().is_some_and(told)) {
        return;
    }
    let instead = match &sig.output {
        ReturnType::Type(_, ty) if is_boxed_future(ty) => {
            ", or end its body in `Box::pin(async move { … })`"
        }
        _ if sig.constness.is_some() => ", without `const`",
        _ if statements.to_string().contains("block_on") => {
            ", or put this above the attribute that takes `async` away from it, as `#[tokio::main]` does"
        }
        _ => "",
    };
    let message =
        format!("`{attribute}` needs an async function: write `async fn {name}`{instead}");
    errors.at(sig.fn_token, message);
}

pub(super) fn returned_value(function: &Function, kind: Kind, errors: &mut Errors) {
    let attribute = kind.name();
    let nothing = format!(
        "there is no value here for `{attribute}` to keep: return one, or remove the attribute (`cache_invalidate` goes with functions that only do something)"
    );
    let Some(output) = function.output() else {
        errors.at(&function.sig.ident, nothing);
        return;
    };
    // The body is told to be one that gives a future.
    if function.form().is_none() && is_boxed_future(output) {
        return;
    }
    if let Some(ty) = find(output, &|ty| matches!(ty, Type::Infer(_))) {
        errors.at(
            ty,
            format!("write this type: what `{attribute}` keeps depends on it"),
        );
        return;
    }
    let value = if is_result(output) {
        // An alias may hide its value; then the compiler has to say what is wrong with it.
        let Some(value) = last_segment(output).and_then(first_type) else {
            return;
        };
        value
    } else {
        output
    };
    if let Some(ty) = find(value, &is_stream) {
        errors.at(
            ty,
            format!("`{attribute}` cannot keep a stream: collect it, and return a `Vec`"),
        );
    } else if let Some(ty) = opaque(value) {
        if function.form().is_some() || !is_future(ty) {
            errors.at(
                ty,
                format!("`{attribute}` cannot keep an `impl Trait`: return an owned value of a named type"),
            );
        }
    } else if matches!(value, Type::Tuple(tuple) if tuple.elems.is_empty())
        || matches!(value, Type::Never(_))
    {
        errors.at(output, nothing);
    } else if is_unsized(value) {
        errors.at(
            value,
            format!("`{attribute}` cannot keep a value without a size: return a `String`, a `Vec<T>` or an `Arc<dyn …>`"),
        );
    } else if let Some(ty) = if matches!(value, Type::Reference(_)) {
        Some(value)
    } else {
        find(value, &borrows)
    } {
        errors.at(
            ty,
            format!("`{attribute}` cannot keep a borrowed value: return an owned one, such as `String`, `Vec<T>` or `Arc<T>`"),
        );
    }
}
