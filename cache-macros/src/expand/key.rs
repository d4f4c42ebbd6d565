//! Which entry an attribute is about: the plan of a call, and what goes into the key.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Expr, spanned::Spanned};

use super::{Expansion, hygienic, respan};
use crate::{
    args::{Args, Kind},
    function::{Mark, Param, key_params},
    spelling::is_array,
};

impl Expansion<'_> {
    /// `let plan_0 = …;`: which entry, of which manager, and whether at all.
    pub(super) fn plan(&self, i: usize, layer: &Args) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, site) = (self.local("plan", i), self.local("site", i));
        let manager = match &layer.manager {
            Some(expr) => {
                let (span, private, _) = self.at(expr.span());
                quote_spanned! {span=>
                    match &(#expr) {
                        manager => ::core::option::Option::Some(#private::manager(manager)),
                    }
                }
            }
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        let enabled = match &layer.condition {
            Some(expr) => expr.to_token_stream(),
            None => quote_spanned!(*span=> true),
        };
        if layer.kind == Kind::InvalidateAll {
            return quote_spanned!(*span=> let #plan = #private::Plan::all(#site, #manager, #enabled););
        }
        if layer.key_with.is_some() {
            return quote_spanned!(*span=> let #plan = #private::Plan::from_value(#site, #manager, #enabled););
        }
        let parts: Vec<_> = match &layer.key {
            Some(expr) => self.parts(expr),
            None => key_params(self.params)
                .map(|param| self.param_part(param))
                .collect(),
        };
        let count = parts.len();
        let writer = if count == 0 {
            format_ident!("_writer", span = *span)
        } else {
            self.writer()
        };
        let plain = layer.manager.is_none() && layer.condition.is_none();
        let (made, given) = if plain {
            ("usual", TokenStream::new())
        } else {
            ("keyed", quote_spanned!(*span=> #manager, #enabled,))
        };
        let made = Ident::new(made, *span);
        quote_spanned! {*span=>
            let #plan = #private::Plan::#made(
                #site,
                #given
                #count,
                &|#writer: &mut #private::KeyWriter<'_>| {
                    #(#parts)*
                    ::core::result::Result::Ok(())
                },
            );
        }
    }

    /// What an expression adds to the key: a tuple is several parts.
    pub(super) fn parts(&self, expr: &Expr) -> Vec<TokenStream> {
        match expr {
            Expr::Tuple(tuple) => tuple.elems.iter().map(|elem| self.part(elem)).collect(),
            other => vec![self.part(other)],
        }
    }

    fn part(&self, expr: &Expr) -> TokenStream {
        // The expression is to blame if it is no key.
        let (span, private, writer) = self.at(expr.span());
        quote_spanned!(span=> match &(#expr) { part => #private::KeyWriter::part(#writer, part)?, })
    }

    fn param_part(&self, param: &Param) -> TokenStream {
        // The name alone, where `mut` comes before it.
        let place = param.name().map_or(param.pat.span(), Ident::span);
        let (span, private, writer) = self.at(place);
        let method = Ident::new(
            if param.mark == Some(Mark::Hash) {
                "hashed"
            } else {
                "part"
            },
            span,
        );
        let name = match param.name() {
            Some(name) => name.clone(),
            None => format_ident!("arg_{}", param.index, span = span),
        };
        // Serde has no arrays of generic or of great length; a slice has the same text.
        let place = if is_array(&param.ty) {
            quote_spanned!(span=> [..])
        } else {
            TokenStream::new()
        };
        quote_spanned!(span=> #private::KeyWriter::#method(#writer, &#name #place)?;)
    }

    /// For a call that is to be shown as a whole at `place`: the span, the path of `__private`, the writer of the key.
    pub(super) fn at(&self, place: Span) -> (Span, TokenStream, Ident) {
        let span = hygienic(place);
        let private = respan(self.private.clone(), &|_| span);
        (span, private, Ident::new("writer", span))
    }

    pub(super) fn writer(&self) -> Ident {
        Ident::new("writer", self.span)
    }
}
