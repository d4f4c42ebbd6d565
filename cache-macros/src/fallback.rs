//! What is emitted when there are mistakes: all of them, and the function as it was written.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Attribute;

use crate::{
    args::Args,
    expand::keep_used,
    function::{Body, Function, Param, versions::cfgs},
};

/// The mistakes of one function, collected so that they are reported together.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// A mistake at the whole of `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// A mistake where no tokens are at hand.
    pub(crate) fn at_span(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.0
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect()
    }

    fn into_compile_errors(self, cfgs: &[Attribute]) -> TokenStream {
        let errors = self.0.into_iter().flatten();
        errors
            .flat_map(|error| {
                let error = error.into_compile_error();
                quote!(#(#cfgs)* #error)
            })
            .collect()
    }
}

// Input:  #[cache_result(cache = "product", tll = "30s")] #[inline] async fn product(#[cache_key] id: u64) -> Ret { body }
// Output: ::core::compile_error! { "…" } #[inline] async fn product(id: u64) -> Ret { let _ = &id; body }
pub(crate) fn function(
    errors: Errors,
    mut function: Function,
    params: &[Param],
    layers: &[Args],
) -> TokenStream {
    // A mistake in a version of the function that is not compiled is none.
    let cfgs = cfgs(&function);
    let errors = errors.into_compile_errors(&cfgs);
    if let Body::Block { statements, .. } = &mut function.body {
        let used = keep_used(layers);
        // Arguments that only the key uses would be called unused, beside the mistake.
        let names = params.iter().filter_map(Param::name);
        *statements = quote!(#used #(let _ = &#names;)* #statements);
    }
    quote!(#errors #function)
}

/// For what is not a function at all.
pub(crate) fn item(errors: Errors, item: &TokenStream) -> TokenStream {
    let errors = errors.into_compile_errors(&[]);
    quote!(#errors #item)
}
