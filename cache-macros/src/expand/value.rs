//! Options that look at the value: closures of ours around those of the user.
//!
//! A closure of ours always is one that is asked for, so where the user's is of another type, that is said once, and of its own
//! tokens. Nor could a closure of the user's own return a key that borrows from the value.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprClosure, Pat, ReturnType, spanned::Spanned};

use super::{Expansion, hygienic, key::Into, respan};
use crate::args::{Args, ungrouped};

impl Expansion<'_> {
    // Input:  |v: &V| v.len() > 3
    // Output: |__value: &_| -> bool { let v: &V = __value; v.len() > 3 }
    pub(super) fn over_the_value(&self, expr: &Expr, ty: &TokenStream) -> TokenStream {
        let span = self.span;
        let ty = respan(ty.clone(), &|_| hygienic(expr.span()));
        match ungrouped(expr) {
            Expr::Closure(closure) => {
                let (capture, body) = (closure.capture, &closure.body);
                let (param, bind) = self.param_of(closure);
                quote_spanned!(span=> #capture |#param: &_| -> #ty { #bind #body })
            }
            path @ Expr::Path(_) => {
                let place = hygienic(path.span());
                let (value, call) = (self.value(), quote_spanned!(place=> (#path)(__value)));
                quote_spanned!(span=> |#value: &_| -> #ty { #call })
            }
            other => other.to_token_stream(),
        }
    }

    // Input:  key_with = |v: &V| (v.tenant(), v.id)
    // Output: 2, |__value: &_, __writer: &mut KeyWriter<'_>| {
    //             let v: &V = __value;
    //             key_part(__writer, &(v.tenant()))?;
    //             key_part(__writer, &(v.id))?;
    //             Ok(())
    //         }
    pub(super) fn key_with(&self, layer: &Args) -> (usize, TokenStream) {
        let Self { private, span, .. } = self;
        let writer = self.writer();
        let (parts, param, bind, capture) = match layer.key_with.as_ref().map(ungrouped) {
            None => return (0, quote_spanned!(*span=> ::core::option::Option::None)),
            Some(Expr::Closure(closure)) => {
                let (param, bind) = self.param_of(closure);
                let key = typed_body(closure);
                (
                    self.parts(&key, &Into::Writer),
                    param,
                    bind,
                    closure.capture,
                )
            }
            Some(path) => {
                let place = hygienic(path.span());
                let value = quote_spanned!(place=> &(#path)(__value));
                let part = self.add(place, &Into::Writer, "part", &value);
                let param = self.value().into_token_stream();
                (vec![part], param, TokenStream::new(), None)
            }
        };
        let closure = quote_spanned! {*span=>
            ::core::option::Option::Some(&#capture |#param: &_, #writer: &mut #private::KeyWriter<'_>| {
                #bind
                #(#parts;)*
                ::core::result::Result::Ok(())
            })
        };
        (parts.len(), closure)
    }

    /// The parameter of a closure of ours in place of the user's, and the statement that makes it the user's where a type is
    /// written.
    fn param_of(&self, closure: &ExprClosure) -> (TokenStream, TokenStream) {
        match closure.inputs.first() {
            Some(pattern @ Pat::Type(typed)) => {
                let span = hygienic(pattern.span());
                let value = Ident::new("__value", span);
                let unused = matches!(&*typed.pat, Pat::Ident(pat) if pat.ident.to_string().starts_with('_'));
                let bind = if unused {
                    // By way of a call, since lints call it useless otherwise.
                    quote_spanned!(self.span=> let #pattern = ::core::convert::identity(#value);)
                } else {
                    quote_spanned!(self.span=> let #pattern = #value;)
                };
                (self.value().into_token_stream(), bind)
            }
            pattern => (pattern.to_token_stream(), TokenStream::new()),
        }
    }

    fn value(&self) -> Ident {
        Ident::new("__value", self.span)
    }
}

/// What a closure gives, of the type that it says.
// Input:  |v: &V| -> u32 { v.id.into() }
// Output: { let __key: u32 = { v.id.into() }; __key }
fn typed_body(closure: &ExprClosure) -> Expr {
    let body = &closure.body;
    match &closure.output {
        ReturnType::Default => Expr::clone(body),
        ReturnType::Type(_, ty) => {
            let span = hygienic(body.span());
            Expr::Verbatim(quote_spanned!(span=> { let __key: #ty = #body; __key }))
        }
    }
}
