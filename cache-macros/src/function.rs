//! The annotated function: its signature parsed, its body kept as tokens, its key parameters found.
//!
//! A body is not ours to understand; one that does not parse yet is the compiler's to report, at its own place.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, Pat, PatIdent, Signature, Token, Type, Visibility, braced,
    parse::{Parse, ParseStream},
    token::Brace,
};

pub(crate) use self::{
    form::{AsyncBlock, Form},
    params::{Mark, Param, key_params},
};
use crate::{
    args::{Args, Kind},
    fallback::Errors,
};

mod form;
mod params;
pub(crate) mod versions;

#[cfg(test)]
mod tests;

#[derive(Clone)]
pub(crate) struct Function {
    /// The attributes that are not ours.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
    output: Option<Type>,
}

#[derive(Clone)]
pub(crate) enum Body {
    /// `{ … }`, with the attributes at its beginning apart.
    Block {
        brace: Brace,
        inner: Vec<Attribute>,
        statements: TokenStream,
    },
    /// `;`
    None(Token![;]),
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let body = if input.peek(Token![;]) {
            Body::None(input.parse()?)
        } else {
            let content;
            let brace = braced!(content in input);
            Body::Block {
                brace,
                inner: content.call(Attribute::parse_inner)?,
                statements: content.parse()?,
            }
        };
        let mut function = Self {
            attrs,
            vis,
            sig,
            body,
            output: None,
        };
        function.output = function.find_output();
        Ok(function)
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            vis,
            sig,
            body,
            output: _,
        } = self;
        tokens.extend(quote!(#(#attrs)* #vis #sig));
        match body {
            Body::None(semicolon) => semicolon.to_tokens(tokens),
            Body::Block {
                brace,
                inner,
                statements,
            } => {
                brace.surround(tokens, |tokens| {
                    tokens.extend(quote!(#(#inner)* #statements))
                });
            }
        }
    }
}

impl Function {
    /// Whether a type is one of the function's own type parameters.
    pub(crate) fn has_type_parameter(&self, ty: &Type) -> bool {
        let Type::Path(path) = ty else { return false };
        let name = path.path.get_ident();
        self.sig
            .generics
            .type_params()
            .any(|parameter| name == Some(&parameter.ident))
    }

    /// Takes our other attributes off the function.
    pub(crate) fn take_attributes(&mut self, errors: &mut Errors) -> Vec<Args> {
        let (ours, others): (Vec<_>, _) = self
            .attrs
            .drain(..)
            .partition(|attr| Kind::of(attr.path()).is_some());
        self.attrs = others;
        ours.into_iter()
            .filter_map(|attr| Some(Args::stacked(Kind::of(attr.path())?, attr, errors)))
            .collect()
    }

    /// Gives the input at `index` a name instead of its pattern.
    pub(crate) fn rename_input(&mut self, index: usize, name: &Ident) {
        if let Some(FnArg::Typed(typed)) = self.sig.inputs.iter_mut().nth(index) {
            *typed.pat = Pat::Ident(PatIdent {
                attrs: Vec::new(),
                by_ref: None,
                mutability: None,
                ident: name.clone(),
                subpat: None,
            });
        }
    }

    /// Takes `mut` off the names of the inputs: it is the body that changes them, where they are variables of its own, as in
    /// any `async fn`, and lints see whether it does.
    pub(crate) fn take_mut(&mut self) -> Vec<PatIdent> {
        let mut taken = Vec::new();
        for input in &mut self.sig.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(pat) = &mut *typed.pat
                && pat.by_ref.is_none()
                && pat.subpat.is_none()
                && pat.mutability.is_some()
            {
                taken.push(pat.clone());
                pat.mutability = None;
            }
        }
        taken
    }

    /// The type that awaiting the function gives; `None` if it is not spelt, that is, `()`.
    pub(crate) fn output(&self) -> Option<&Type> {
        self.output.as_ref()
    }
}
