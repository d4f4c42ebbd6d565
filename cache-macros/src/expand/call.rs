//! The call of `__private` that an attribute becomes, and its options that do not look at keys.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, spanned::Spanned};

use super::{Expansion, located};
use crate::{
    args::{Args, CacheRef, Kind, Time, When},
    check::when,
};

impl Expansion<'_> {
    /// `let options_0 = …;`
    pub(super) fn options(&self, i: usize, layer: &Args) -> Option<TokenStream> {
        let Self { private, span, .. } = self;
        let options = self.local("options", i);
        let (ttl, lock_timeout) = (
            self.time(layer.ttl.as_ref()),
            self.time(layer.lock_timeout.as_ref()),
        );
        layer.kind.stores().then(|| {
            quote_spanned! {*span=>
                let #options = #private::LoadOptions { ttl: #ttl, lock_timeout: #lock_timeout };
            }
        })
    }

    fn time(&self, time: Option<&Time>) -> TokenStream {
        let span = self.span;
        match time {
            None => quote_spanned!(span=> ::core::option::Option::None),
            Some(Time::Literal(duration)) => {
                let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
                quote_spanned! {span=>
                    ::core::option::Option::Some(::core::time::Duration::new(#seconds, #nanoseconds))
                }
            }
            Some(Time::Expr(expr)) => quote_spanned!(span=> ::core::option::Option::Some(#expr)),
        }
    }

    /// The call that makes up the layer, without the path of `__private`.
    pub(super) fn call(&self, i: usize, layer: &Args) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, options) = (self.local("plan", i), self.local("options", i));
        let decision = quote_spanned!(*span=> ::core::primitive::bool);
        let duration = quote_spanned!(*span=> ::core::time::Duration);
        let or = |expr: &Option<Expr>, ty: &TokenStream, default: &str| match expr {
            Some(expr) => self.over_the_value(expr, ty),
            None => {
                let default = Ident::new(default, *span);
                quote_spanned!(*span=> #private::#default)
            }
        };
        let (key_parts, key_with) = self.key_with(layer);
        match layer.kind {
            Kind::Result | Kind::Put => {
                let returns = self.named_returns(layer);
                let (store_if, ttl_with) = (
                    or(&layer.store_if, &decision, "always"),
                    or(&layer.ttl_with, &duration, "unlimited"),
                );
                if layer.kind == Kind::Result {
                    quote_spanned!(*span=> load(#plan, #returns, #options, #store_if, #ttl_with, body))
                } else {
                    quote_spanned! {*span=>
                        put(#plan, #returns, #options, #store_if, #ttl_with, #key_parts, #key_with, body)
                    }
                }
            }
            Kind::Invalidate | Kind::InvalidateAll => {
                let invalidate_if = or(&layer.invalidate_if, &decision, "always");
                let when = match when(layer, self.layers) {
                    When::Success => "Success",
                    When::Before => "Before",
                    When::Always => {
                        return quote_spanned! {*span=>
                            invalidate_always(#plan, returns, #invalidate_if, #key_parts, #key_with, body)
                        };
                    }
                };
                let when = Ident::new(when, *span);
                quote_spanned! {*span=>
                    invalidate(#plan, returns, #private::When::#when, #invalidate_if, #key_parts, #key_with, body)
                }
            }
        }
    }

    /// With `cache = PATH` the compiler compares the type of the value.
    fn named_returns(&self, layer: &Args) -> TokenStream {
        match &layer.cache {
            Some(CacheRef::Const(path)) => {
                let (span, private, _) = self.at(path.span());
                let path = located(path.to_token_stream());
                quote_spanned!(span=> #private::Returns::names(returns, &#path))
            }
            _ => quote_spanned!(self.span=> returns),
        }
    }
}
