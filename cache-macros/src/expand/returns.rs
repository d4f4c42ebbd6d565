//! How the return type of a function is seen.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::{Expansion, located};
use crate::{
    args::CacheRef,
    check::store,
    spelling::{borrows, borrows_static, error_or_all, find, is_result, may_hide_a_borrow, opaque},
};

impl Expansion<'_> {
    /// `let __returns = …;`: how the return type is seen. Only a type that can be named can be asked, and only one that is stored
    /// need be asked for everything.
    pub(super) fn returns(&self) -> Option<TokenStream> {
        let Self { private, span, .. } = self;
        let question = Ident::new(
            if store(self.layers).is_some() {
                "returns"
            } else {
                "outcome"
            },
            *span,
        );
        let returns = match self.function.output() {
            None => quote_spanned!(*span=> #private::#question!(())),
            Some(Type::Never(_)) => return None,
            Some(ty) if opaque(ty).is_none() => {
                let questions = store(self.layers).map(|_| self.questions(ty));
                let ty = located(ty.to_token_stream());
                quote_spanned!(*span=> #private::#question!(#ty #questions))
            }
            Some(ty) if is_result(ty) => quote_spanned!(*span=> #private::fallible()),
            Some(_) => quote_spanned!(*span=> #private::plain()),
        };
        // With `cache = PATH` the compiler compares the type of the value.
        let names = match store(self.layers).and_then(|store| store.cache.as_ref()) {
            Some(CacheRef::Const(path)) => {
                let (span, private, _) = self.at(path.span());
                let path = located(path.to_token_stream());
                quote_spanned!(span=> let __returns = #private::Returns::names(__returns, &#path);)
            }
            _ => TokenStream::new(),
        };
        Some(quote_spanned!(*span=> let __returns = #returns; #names))
    }

    /// What may be asked of a return type: not what would hold for one lifetime only, since the compiler, which looks for the
    /// answer with all lifetimes erased, would find that out too late.
    fn questions(&self, ty: &Type) -> TokenStream {
        let mut questions = TokenStream::new();
        if find(ty, &borrows_static).is_none() {
            questions.extend(quote_spanned!(self.span=> , serde));
        }
        let error = error_or_all(ty);
        let hides = |ty: &Type| self.function.has_type_parameter(ty) || may_hide_a_borrow(ty);
        if find(ty, &borrows).is_none() && find(error, &hides).is_none() {
            questions.extend(quote_spanned!(self.span=> , share));
        }
        questions
    }
}
