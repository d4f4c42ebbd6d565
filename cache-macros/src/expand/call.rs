//! The steps around a body that an attribute becomes, and its options that do not look at keys.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, Lifetime, Type};

use super::Expansion;
use crate::{
    args::{Args, Kind, Time, When},
    check::when,
    spelling::{first_type, is_small, last_segment},
};

impl Expansion<'_> {
    /// Tells a plan for how long to keep a value, and for how long to wait for somebody else's.
    pub(super) fn times(&self, plan: &Ident, layer: &Args) -> TokenStream {
        let mut told = TokenStream::new();
        for (method, time) in [("ttl", &layer.ttl), ("lock_timeout", &layer.lock_timeout)] {
            let (span, private) = (self.span, &self.private);
            let method = Ident::new(method, span);
            let time = match time {
                None => continue,
                Some(Time::Expr(expr)) => expr.to_token_stream(),
                Some(Time::Literal(duration)) => {
                    let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
                    quote_spanned!(span=> ::core::time::Duration::new(#seconds, #nanoseconds))
                }
            };
            told.extend(quote_spanned!(span=> #private::Plan::#method(&mut #plan, #time);));
        }
        told
    }

    /// A layer around what is `within` it. `plan` makes its plan, if that is not there yet.
    pub(super) fn around(
        &self,
        i: usize,
        layer: &Args,
        plan: &TokenStream,
        within: &TokenStream,
    ) -> TokenStream {
        match layer.kind {
            Kind::Result => self.around_load(i, layer, plan, within),
            Kind::Put => self.around_put(i, layer, within),
            Kind::Invalidate | Kind::InvalidateAll => self.around_change(i, layer, within),
        }
    }

    fn around_load(
        &self,
        i: usize,
        layer: &Args,
        made: &TokenStream,
        within: &TokenStream,
    ) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, step, label) = self.locals(i);
        let finish = if looks_at_value(layer) {
            let (store_if, ttl_with) = (self.decision(&layer.store_if), self.ttl_with(layer));
            quote_spanned! {*span=>
                #private::Leader::finish_with(#step, __returns, __returned, #store_if, #ttl_with)
            }
        } else {
            quote_spanned!(*span=> #private::Leader::finish(#step, __returns, __returned))
        };
        let plan = if self.plans_in_place() {
            plan.to_token_stream()
        } else {
            // Moved, so that it is gone before anything is waited for.
            quote_spanned!(*span=> { #plan })
        };
        quote_spanned! {*span=>
            #label: {
                let __soon = match { #made #private::arrive(&mut #plan, __returns) } {
                    ::core::result::Result::Ok(__returned) => break #label __returned,
                    ::core::result::Result::Err(__soon) => __soon,
                };
                let #step = match #private::Arrived::conclude(__soon.await, __returns) {
                    ::core::result::Result::Ok(__returned) => break #label __returned,
                    ::core::result::Result::Err(__leader) => __leader,
                };
                let __returned = #within;
                #finish
            }
        }
    }

    fn around_put(&self, i: usize, layer: &Args, within: &TokenStream) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, step, _) = self.locals(i);
        let before = quote_spanned!(*span=> #private::attempt_put(#plan, __returns).await);
        let kept = self.kept();
        let finish = if looks_at_value(layer) {
            let (store_if, ttl_with) = (self.decision(&layer.store_if), self.ttl_with(layer));
            let (parts, key_with) = self.key_with(layer);
            self.closures_gone(&quote_spanned! {*span=>
                #private::Attempt::finish_with(#step, #kept, #store_if, #ttl_with, #parts, #key_with)
            })
        } else {
            quote_spanned!(*span=> #private::Attempt::finish(#step, #kept).await;)
        };
        self.around_value(i, within, &before, &finish, "Attempt")
    }

    fn around_change(&self, i: usize, layer: &Args, within: &TokenStream) -> TokenStream {
        let Self { private, span, .. } = self;
        let (plan, step, _) = self.locals(i);
        let when = when(layer, self.layers);
        if when == When::Before {
            return quote_spanned!(*span=> { #private::invalidate_before(#plan).await; #within });
        }
        let before = quote_spanned!(*span=> #private::begin_change(#plan));
        if matches!(self.function.output(), Some(Type::Never(_))) {
            // There is nothing after it but an interruption, which the step sees when it is dropped.
            return quote_spanned!(*span=> { let #step = #before; #within });
        }
        let unconditional = quote_spanned!(*span=> #private::Change::finish(#step));
        let by_value = looks_at_value(layer).then(|| {
            let invalidate_if = self.decision(&layer.invalidate_if);
            let (parts, key_with) = self.key_with(layer);
            let value = match when {
                When::Always => quote_spanned!(*span=> __value),
                _ => self.kept(),
            };
            quote_spanned! {*span=>
                #private::Change::finish_with(#step, #value, #invalidate_if, #parts, #key_with)
            }
        });
        let finish = match (when, by_value) {
            (_, None) => quote_spanned!(*span=> #unconditional.await;),
            (When::Always, Some(by_value)) => self.closures_gone(&quote_spanned! {*span=>
                match #private::value(__returns, &*__returned) {
                    ::core::option::Option::Some(__value) => #by_value,
                    ::core::option::Option::None => #unconditional,
                }
            }),
            (_, Some(by_value)) => self.closures_gone(&by_value),
        };
        if when != When::Always {
            return self.around_value(i, within, &before, &finish, "Change");
        }
        // All that was returned is kept.
        quote_spanned! {*span=>
            {
                let #step = #before;
                let __returned = #private::keep(#within);
                #finish
                *__returned
            }
        }
    }

    /// Waits for a future when the closures that it was made with are gone, which need not be `Send`.
    fn closures_gone(&self, future: &TokenStream) -> TokenStream {
        quote_spanned!(self.span=> let __finished = #future; __finished.await;)
    }

    /// A layer that waits for the cache after a body that succeeded, and keeps the value meanwhile.
    fn around_value(
        &self,
        i: usize,
        within: &TokenStream,
        before: &TokenStream,
        finish: &TokenStream,
        step_type: &str,
    ) -> TokenStream {
        let Self { private, span, .. } = self;
        let (_, step, label) = self.locals(i);
        let step_type = Ident::new(step_type, *span);
        let (kept, value) = match self.boxes_value() {
            true => (
                quote_spanned!(*span=> #private::keep(__value)),
                quote_spanned!(*span=> *__value),
            ),
            false => {
                let value = quote_spanned!(*span=> __value);
                (value.clone(), value)
            }
        };
        quote_spanned! {*span=>
            #label: {
                let #step = #before;
                let __returned = #within;
                let __value = match #private::split(__returns, __returned) {
                    ::core::result::Result::Ok(__value) => #kept,
                    ::core::result::Result::Err(__returned) => {
                        #private::#step_type::fail(#step);
                        break #label __returned;
                    }
                };
                #finish
                #private::success(__returns, #value)
            }
        }
    }

    /// A reference to the value that is kept.
    fn kept(&self) -> TokenStream {
        match self.boxes_value() {
            true => quote_spanned!(self.span=> &*__value),
            false => quote_spanned!(self.span=> &__value),
        }
    }

    /// Whether the value is put in a box while the future waits: all but what is spelt as small, or as
    /// `()`.
    fn boxes_value(&self) -> bool {
        let output = self.function.output();
        // What an alias of another name holds is not known.
        let result = output
            .and_then(last_segment)
            .filter(|last| last.ident == "Result");
        let value = result.map_or(output, first_type);
        match value {
            None => output.is_some(),
            Some(Type::Tuple(tuple)) => !tuple.elems.is_empty(),
            Some(ty) => !is_small(ty),
        }
    }

    fn locals(&self, i: usize) -> (Ident, Ident, Lifetime) {
        let label = Lifetime::new(&format!("'layer_{i}"), self.span);
        (
            self.local("plan", i),
            Ident::new("__step", self.span),
            label,
        )
    }

    /// `store_if` or `invalidate_if`.
    fn decision(&self, option: &Option<Expr>) -> TokenStream {
        let Some(expr) = option else {
            return quote_spanned!(self.span=> &|_| true);
        };
        let over = self.over_the_value(expr, &quote_spanned!(self.span=> ::core::primitive::bool));
        quote_spanned!(self.span=> &#over)
    }

    fn ttl_with(&self, layer: &Args) -> TokenStream {
        let Some(expr) = &layer.ttl_with else {
            return quote_spanned!(self.span=> ::core::option::Option::None);
        };
        let over = self.over_the_value(expr, &quote_spanned!(self.span=> ::core::time::Duration));
        quote_spanned!(self.span=> ::core::option::Option::Some(&#over))
    }
}

/// Whether an option of the layer is a closure over the value.
fn looks_at_value(layer: &Args) -> bool {
    layer.over_the_value().next().is_some()
}
