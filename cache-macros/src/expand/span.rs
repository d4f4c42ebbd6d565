//! Where generated tokens are seen, and what their names mean.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// Hygienic for local names, and shown to the user at `place`.
pub(crate) fn hygienic(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// The user's tokens in a place of ours: what lints have to say about them they say where the user wrote them.
pub(crate) fn located(tokens: TokenStream) -> TokenStream {
    respan(tokens, &hygienic)
}

pub(super) fn respan(tokens: TokenStream, span: &impl Fn(Span) -> Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut tree| {
            match &mut tree {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), respan(group.stream(), span));
                    inner.set_span(span(group.span()));
                    *group = inner;
                }
                // Its meaning is in its span.
                TokenTree::Ident(ident) if ident == "$crate" => {}
                other => other.set_span(span(other.span())),
            }
            tree
        })
        .collect()
}
