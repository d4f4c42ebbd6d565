//! Which entry an attribute is about: the plan of a call, and what goes into the key.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Expr, spanned::Spanned};

use super::{Expansion, hygienic, respan};
use crate::{
    args::{Args, Kind, ungrouped},
    function::{Mark, Param, key_params},
    spelling::is_array,
};

/// Where the parts of a key go.
pub(super) enum Into<'a> {
    /// What is known before the body.
    Plan(&'a Ident),
    /// The writer of a closure of ours.
    Writer,
}

impl Expansion<'_> {
    /// `let __plan_0 = …;`: which entry, of which manager, and whether at all.
    pub(super) fn plan(&self, i: usize, layer: &Args) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, site) = (self.local("plan", i), self.local("site", i));
        let manager = match &layer.manager {
            Some(expr) => {
                let (span, private, _) = self.at(expr.span());
                quote_spanned! {span=>
                    match &(#expr) {
                        __manager => ::core::option::Option::Some(#private::manager(__manager)),
                    }
                }
            }
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        let enabled = match &layer.condition {
            Some(expr) => expr.to_token_stream(),
            None => quote_spanned!(*span=> true),
        };
        let usual = layer.manager.is_none() && layer.condition.is_none();
        let made = |made: &str, count: Option<usize>| {
            let made = format_ident!("{made}{}", if usual { "" } else { "_where" }, span = *span);
            let count = count.map(|count| quote_spanned!(*span=> #count,));
            let place = (!usual).then(|| quote_spanned!(*span=> #manager, #enabled));
            quote_spanned!(*span=> #private::Plan::#made(#site, #count #place))
        };
        let declared = |made: &TokenStream, told: &TokenStream| {
            if self.plans_in_place() {
                // What is looked up by a plan is looked up in its place.
                quote_spanned!(*span=> let mut #plan = #made; #told)
            } else if told.is_empty() {
                quote_spanned!(*span=> let #plan = #made;)
            } else {
                // A variable that was ever borrowed keeps its place in the future to the end of its block, even once moved.
                quote_spanned!(*span=> let #plan = { let mut #plan = #made; #told #plan };)
            }
        };
        if layer.kind == Kind::InvalidateAll {
            return declared(&made("all", None), &TokenStream::new());
        }
        let times = self.times(&plan, layer);
        if layer.key_with.is_some() {
            let made = made("from_value", None);
            return declared(&made, &times);
        }
        let into = Into::Plan(&plan);
        let (parts, given): (Vec<_>, bool) = match &layer.key {
            Some(expr) => (self.parts(expr, &into), true),
            None => (
                key_params(self.params)
                    .map(|param| self.param_part(param, &into))
                    .collect(),
                false,
            ),
        };
        let count = parts.len();
        let made = made("keyed", Some(count));
        let parts = quote_spanned!(*span=> #(#parts)*);
        let parts = if given && count > 0 {
            // An expression is evaluated for a call that uses the cache, and for no other.
            quote_spanned!(*span=> if #private::Plan::wants_key(&#plan) { #parts })
        } else {
            parts
        };
        declared(&made, &quote_spanned!(*span=> #parts #times))
    }

    /// What an expression adds to the key.
    pub(super) fn parts(&self, expr: &Expr, into: &Into<'_>) -> Vec<TokenStream> {
        elements(expr)
            .into_iter()
            .map(|element| self.part(element, into))
            .collect()
    }

    fn part(&self, expr: &Expr, into: &Into<'_>) -> TokenStream {
        // The expression is to blame if it is no key.
        let span = hygienic(expr.span());
        let add = self.add(span, into, "part", &quote_spanned!(span=> __part));
        quote_spanned!(span=> match &(#expr) { __part => #add })
    }

    fn param_part(&self, param: &Param, into: &Into<'_>) -> TokenStream {
        // The name alone, where `mut` comes before it.
        let span = hygienic(param.name().map_or(param.pat.span(), Ident::span));
        let method = if param.mark == Some(Mark::Hash) {
            "hashed"
        } else {
            "part"
        };
        let name = match param.name() {
            Some(name) => name.clone(),
            None => format_ident!("__arg_{}", param.index, span = span),
        };
        // Serde has no arrays of generic or of great length; a slice has the same text.
        let place = if is_array(&param.ty) {
            quote_spanned!(span=> [..])
        } else {
            TokenStream::new()
        };
        let add = self.add(span, into, method, &quote_spanned!(span=> &#name #place));
        quote_spanned!(span=> #add;)
    }

    /// Adds a part to the key, with a call that is shown as a whole at `span`.
    pub(super) fn add(
        &self,
        span: Span,
        into: &Into<'_>,
        method: &str,
        part: &TokenStream,
    ) -> TokenStream {
        let (span, private, writer) = self.at(span);
        let method = Ident::new(method, span);
        match into {
            Into::Plan(plan) => {
                let plan = Ident::new(&plan.to_string(), span);
                quote_spanned!(span=> #private::Plan::#method(&mut #plan, #part))
            }
            Into::Writer => quote_spanned!(span=> #private::key_part(#writer, #part)?),
        }
    }

    /// For a call that is to be shown as a whole at `place`: the span, the path of `__private`, the writer of the key.
    pub(super) fn at(&self, place: Span) -> (Span, TokenStream, Ident) {
        let span = hygienic(place);
        let private = respan(self.private.clone(), &|_| span);
        (span, private, Ident::new("__writer", span))
    }

    pub(super) fn writer(&self) -> Ident {
        Ident::new("__writer", self.span)
    }
}

/// The parts of a key that an expression gives: a tuple is several.
pub(super) fn elements(expr: &Expr) -> Vec<&Expr> {
    match ungrouped(expr) {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        other => vec![other],
    }
}
