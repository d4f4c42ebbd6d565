//! The steps around a body that an attribute becomes, and its options that do not look at keys.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Expr, Lifetime, Type, spanned::Spanned};

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

    /// A layer around what is `within` it.
    // The value alone is kept while something is waited for: an error need not be `Send`.
    pub(super) fn around(&self, i: usize, layer: &Args, within: &TokenStream) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, step) = (self.local("plan", i), self.local("step", i));
        let label = Lifetime::new(&format!("'layer_{i}"), *span);
        let decision = quote_spanned!(*span=> ::core::primitive::bool);
        let duration = quote_spanned!(*span=> ::core::time::Duration);
        let over_value = |expr: &Option<Expr>, ty: &TokenStream| match expr {
            Some(expr) => {
                let over = self.over_the_value(expr, ty);
                quote_spanned!(*span=> ::core::option::Option::Some(&#over))
            }
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        let (key_parts, key_with) = self.key_with(layer);
        let (store_if, ttl_with) = (
            over_value(&layer.store_if, &decision),
            over_value(&layer.ttl_with, &duration),
        );
        let invalidate_if = over_value(&layer.invalidate_if, &decision);
        let (before, finish, fail) = match layer.kind {
            Kind::Result => {
                let (options, returns) = (self.local("options", i), self.named_returns(layer));
                return quote_spanned! {*span=>
                    #label: {
                        let #step = match #private::Arrived::conclude(#private::arrive(#plan, #returns, #options).await, returns) {
                            ::core::result::Result::Ok(returned) => break #label returned,
                            ::core::result::Result::Err(leader) => leader,
                        };
                        let returned = #within;
                        #private::Leader::finish(#step, returns, returned, #store_if, #ttl_with)
                    }
                };
            }
            Kind::Put => {
                let (options, returns) = (self.local("options", i), self.named_returns(layer));
                (
                    quote_spanned!(*span=> #private::attempt_put(#plan, #returns, #options).await),
                    quote_spanned! {*span=>
                        #private::Attempt::finish(#step, &value, #store_if, #ttl_with, #key_parts, #key_with)
                    },
                    quote_spanned!(*span=> #private::Attempt::fail(#step)),
                )
            }
            Kind::Invalidate | Kind::InvalidateAll => {
                let when = when(layer, self.layers);
                if when == When::Before {
                    return quote_spanned!(*span=> { #private::invalidate_before(#plan).await; #within });
                }
                (
                    quote_spanned!(*span=> #private::begin_change(#plan)),
                    quote_spanned! {*span=>
                        #private::Change::finish(#step, &value, #invalidate_if, #key_parts, #key_with)
                    },
                    if when == When::Always {
                        quote_spanned!(*span=> #private::Change::finish_failed(#step).await)
                    } else {
                        quote_spanned!(*span=> #private::Change::fail(#step))
                    },
                )
            }
        };
        if matches!(self.function.output(), Some(Type::Never(_))) {
            // There is nothing after it but an interruption, which the step sees when it is dropped.
            let step = format_ident!("_step_{i}", span = *span);
            return quote_spanned!(*span=> { let #step = #before; #within });
        }
        quote_spanned! {*span=>
            #label: {
                let #step = #before;
                let returned = #within;
                let value = match #private::Returns::split(returns, returned) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(returned) => {
                        #fail;
                        break #label returned;
                    }
                };
                let finished = #finish;
                finished.await;
                #private::Returns::success(returns, value)
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
