//! The static that stands for an attribute, by which the program can be checked before it calls the function.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

use super::{Expansion, key::elements, located};
use crate::{
    args::{Args, CacheRef, Kind, When, ungrouped},
    check::{store, when},
    function::{Mark, key_params},
    spelling::{borrows_static, find},
    types::Naming,
};

impl Expansion<'_> {
    /// `let __site_0 = …;`: the static that stands for this attribute, and the function that names its types.
    pub(super) fn site(&self, i: usize, layer: &Args) -> TokenStream {
        let Self { private, span, .. } = self;
        let site = self.local("site", i);
        let attribute = Ident::new(
            match layer.kind {
                Kind::Result => "Result",
                Kind::Put => "Put",
                Kind::Invalidate => "Invalidate",
                Kind::InvalidateAll => "InvalidateAll",
            },
            *span,
        );
        let cache = self.cache_name(layer);
        let function = self.function.sig.ident.to_string();
        let function = function.trim_start_matches("r#");
        let managed = layer.manager.is_some();
        let named = self.types(layer);
        let types = match named {
            Some(_) => quote_spanned!(*span=> __cache_hidden),
            None => quote_spanned!(*span=> #private::Types::none),
        };
        let made = quote_spanned! {*span=>
            #private::site!(#attribute, #cache, #function, #managed, #types)
        };
        match named {
            Some(named) => quote_spanned!(*span=> let #site = { #named #made };),
            None => quote_spanned!(*span=> let #site = #made;),
        }
    }

    /// The name of the cache that an attribute names.
    fn cache_name(&self, layer: &Args) -> TokenStream {
        match &layer.cache {
            Some(CacheRef::Name(name)) => name.to_token_stream(),
            Some(CacheRef::Const(path)) => {
                let (span, private, _) = self.at(path.span());
                let path = located(path.to_token_stream());
                quote_spanned!(span=> #private::CacheName::name(&#path))
            }
            None => TokenStream::new(),
        }
    }

    /// Has the compiler check that an invalidation after the body is of another cache than the one that the function fills,
    /// where tokens cannot tell.
    pub(super) fn caches_apart(&self) -> TokenStream {
        let mut checks = TokenStream::new();
        let Some(store) = store(self.layers) else {
            return checks;
        };
        for layer in self.layers {
            let (Some(filled), Some(ended)) = (&store.cache, &layer.cache) else {
                continue;
            };
            let told = matches!((filled, ended), (CacheRef::Name(_), CacheRef::Name(_)));
            // Two managers have two caches of one name.
            let managed = store.manager.is_some() || layer.manager.is_some();
            if layer.kind.stores() || told || managed || when(layer, self.layers) == When::Before {
                continue;
            }
            let (span, private, _) = self.at(ended.span());
            let (filled, ended) = (self.cache_name(store), self.cache_name(layer));
            checks.extend(
                quote_spanned!(span=> const _: () = #private::caches_apart(#filled, #ended);),
            );
        }
        checks
    }

    /// The function that names the types of this layer, if there are any to name.
    fn types(&self, layer: &Args) -> Option<TokenStream> {
        let span = &self.span;
        // Beside what is declared in place of names, the path of a user might mean something else.
        let (import, private) = match self.krate {
            None => (None, self.private.clone()),
            Some(path) => {
                let alias = Ident::new("__cache_private", *span);
                let import = quote_spanned!(*span=> use #path::__private as #alias;);
                (Some(import), alias.into_token_stream())
            }
        };
        let mut naming = Naming::new(&self.function.sig, *span);
        let stored = self.function.output().filter(|_| layer.kind.stores());
        let serde = stored
            .filter(|ty| find(ty, &borrows_static).is_none())
            .map(|_| quote_spanned!(*span=> , serde));
        let value = match stored.and_then(|ty| naming.name(ty)) {
            Some(ty) => quote_spanned!(*span=> #private::value_type!(#ty #serde)),
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        let mut part = |ty: Option<&Type>| match ty.and_then(|ty| naming.name_key(ty)) {
            Some(ty) => quote_spanned!(*span=> #private::KeyPart::of::<#ty>()),
            None => quote_spanned!(*span=> #private::KeyPart::unknown()),
        };
        let parts: Option<Vec<_>> = if layer.has_implicit_key() {
            Some(
                key_params(self.params)
                    .map(|param| match param.mark {
                        Some(Mark::Hash) => {
                            quote_spanned!(*span=> #private::KeyPart::hashed())
                        }
                        _ => part(Some(&param.ty)),
                    })
                    .collect(),
            )
        } else {
            layer.key.as_ref().and_then(|key| {
                let types: Vec<_> = elements(key)
                    .into_iter()
                    .map(|expr| self.type_of(expr))
                    .collect();
                // One alone of an unknown type may be any number of parts.
                let lone = matches!(types[..], [None]);
                (!lone).then(|| types.into_iter().map(part).collect())
            })
        };
        if parts.is_none() && stored.is_none() {
            return None;
        }
        let types = match parts {
            Some(parts) if stored.is_none() => {
                quote_spanned!(*span=> #private::Types::of_key(&[#(#parts),*]))
            }
            Some(parts) => quote_spanned! {*span=>
                #private::Types::of_entry(#value, &[#(#parts),*])
            },
            None => quote_spanned!(*span=> #private::Types::of_value(#value)),
        };
        let function = naming.function(&private, &types);
        Some(quote_spanned!(*span=> #import #function))
    }

    /// The type of an expression that is a parameter or a reference to one.
    fn type_of(&self, expr: &Expr) -> Option<&Type> {
        match ungrouped(expr) {
            Expr::Reference(reference) => self.type_of(&reference.expr),
            Expr::Paren(paren) => self.type_of(&paren.expr),
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                self.params
                    .iter()
                    .find(|param| param.name() == Some(name))
                    .map(|param| &param.ty)
            }
            _ => None,
        }
    }
}
