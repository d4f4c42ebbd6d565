//! The annotated function: its signature parsed, its body kept as tokens, its key parameters found.
//!
//! A body is not ours to understand; one that does not parse yet is the compiler's to report, at its own place.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, Meta, Pat, PatIdent, Path, ReturnType, Signature, Token, Type, Visibility,
    braced,
    parse::{Parse, ParseStream, Parser},
    token::Brace,
};

use crate::{
    args::{Args, Kind},
    expand::hygienic,
    fallback::Errors,
    spelling::boxed_output,
};

pub(crate) struct Function {
    /// The attributes that are not ours.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

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

/// How the function is asynchronous.
pub(crate) enum Form {
    /// `async fn f() -> R { statements }`
    Async { block: TokenStream },
    /// `fn f() -> Pin<Box<dyn Future<Output = R>>> { Box::pin(async move { … }) }`, which is what `#[async_trait]` makes of
    /// an async method before the attributes on the method run.
    Boxed {
        pin: TokenStream,
        block: TokenStream,
    },
}

/// A parameter other than `self`.
pub(crate) struct Param {
    /// The place among the inputs, `self` included.
    pub(crate) index: usize,
    pub(crate) pat: Pat,
    pub(crate) ty: Type,
    pub(crate) mark: Option<Mark>,
}

/// What `#[cache_key]` on a parameter says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Plain,
    Hash,
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
        Ok(Self {
            attrs,
            vis,
            sig,
            body,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            vis,
            sig,
            body,
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

    /// Takes the marks off the parameters.
    pub(crate) fn take_params(&mut self, errors: &mut Errors) -> Vec<Param> {
        let mut params = Vec::new();
        for (index, input) in self.sig.inputs.iter_mut().enumerate() {
            match input {
                FnArg::Receiver(receiver) => {
                    for attr in take_marks(&mut receiver.attrs) {
                        errors.at(
                            attr,
                            "`self` is never part of the key: mark other parameters, or write `key = …` with what you need of it",
                        );
                    }
                }
                FnArg::Typed(typed) => {
                    let mut mark = None;
                    for attr in take_marks(&mut typed.attrs) {
                        let read = read_mark(&attr, errors);
                        if mark.is_some() {
                            errors.at(&attr, "`#[cache_key]` is given twice: keep one");
                        }
                        mark = mark.or(Some(read));
                    }
                    params.push(Param {
                        index,
                        pat: (*typed.pat).clone(),
                        ty: (*typed.ty).clone(),
                        mark,
                    });
                }
            }
        }
        params
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

    /// The type that awaiting the function gives; `None` if it is not spelt, that is, `()`.
    pub(crate) fn output(&self) -> Option<&Type> {
        let ReturnType::Type(_, ty) = &self.sig.output else {
            return None;
        };
        if self.sig.asyncness.is_some() {
            Some(ty)
        } else {
            boxed_output(ty).or(Some(ty))
        }
    }

    /// How the function is asynchronous, if it is and has a body.
    pub(crate) fn form(&self) -> Option<Form> {
        let Body::Block {
            brace, statements, ..
        } = &self.body
        else {
            return None;
        };
        if self.sig.asyncness.is_some() {
            let block = inner_block(*brace, statements);
            return Some(Form::Async { block });
        }
        let ReturnType::Type(_, ty) = &self.sig.output else {
            return None;
        };
        boxed_output(ty)?;
        let mut pin: Vec<TokenTree> = statements.clone().into_iter().collect();
        let TokenTree::Group(call) = pin.pop()? else {
            return None;
        };
        let is_pin = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "pin");
        if call.delimiter() != Delimiter::Parenthesis || !pin.last().is_some_and(is_pin) {
            return None;
        }
        let pin: TokenStream = pin.into_iter().collect();
        Path::parse_mod_style.parse2(pin.clone()).ok()?;
        let block = async_block.parse2(call.stream()).ok()?;
        Some(Form::Boxed { pin, block })
    }
}

/// The block of `async move { … }`.
fn async_block(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    input.parse::<Token![async]>()?;
    input.parse::<Option<Token![move]>>()?;
    let content;
    let brace = braced!(content in input);
    let statements: TokenStream = content.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(inner_block(brace, &statements))
}

/// The body as a block in a block of ours. Its braces pass for ours, so that no lint calls those of a short body superfluous.
fn inner_block(brace: Brace, statements: &TokenStream) -> TokenStream {
    let mut block = TokenStream::new();
    Brace(hygienic(brace.span.join())).surround(&mut block, |tokens| {
        tokens.extend(statements.clone());
    });
    block
}

fn take_marks(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    let is_mark = |attr: &Attribute| {
        attr.path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "cache_key")
    };
    let (marks, others) = attrs.drain(..).partition(is_mark);
    *attrs = others;
    marks
}

fn read_mark(attr: &Attribute, errors: &mut Errors) -> Mark {
    match &attr.meta {
        Meta::Path(_) => return Mark::Plain,
        Meta::List(list) => {
            if syn::parse2::<Ident>(list.tokens.clone()).is_ok_and(|word| word == "hash") {
                return Mark::Hash;
            }
            if list.tokens.is_empty() {
                errors.at(attr, "write `#[cache_key]` or `#[cache_key(hash)]`");
            } else {
                errors.at(&list.tokens, "write `#[cache_key]` or `#[cache_key(hash)]`");
            }
        }
        Meta::NameValue(_) => errors.at(attr, "write `#[cache_key]` or `#[cache_key(hash)]`"),
    }
    Mark::Plain
}

/// The parameters that make up the key when no option says otherwise: the marked ones, else all.
pub(crate) fn key_params(params: &[Param]) -> impl Iterator<Item = &Param> {
    let marked = params.iter().any(|param| param.mark.is_some());
    params
        .iter()
        .filter(move |param| !marked || param.mark.is_some())
}

impl Param {
    /// The name under which the whole argument can be read; a pattern has none, and naming `_unused` would be a lint's
    /// business.
    pub(crate) fn name(&self) -> Option<&Ident> {
        match &self.pat {
            Pat::Ident(pat) if pat.subpat.is_none() && !pat.ident.to_string().starts_with('_') => {
                Some(&pat.ident)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Option<String> {
        match syn::parse_str::<Function>(text).unwrap().form()? {
            Form::Async { block } => Some(format!("async {block}")),
            Form::Boxed { pin, block } => Some(format!("{pin} {block}").replace(' ', "")),
        }
    }

    #[test]
    fn async_functions_and_boxed_futures_are_told_from_others() {
        let boxed = "-> Pin<Box<dyn Future<Output = u8> + Send>>";
        assert_eq!(
            form("async fn f() { g().await }").as_deref(),
            Some("async { g () . await }")
        );
        for call in [
            "Box::pin(async move { 1 })",
            "::std::boxed::Box::pin(async { 1 },)",
        ] {
            let pin = &call[..call.find('(').unwrap()];
            assert_eq!(
                form(&format!("fn f() {boxed} {{ {call} }}")),
                Some(format!("{pin}{{1}}"))
            );
        }
        for body in [
            "",
            "let x = 1; Box::pin(async move { x })",
            "Box::pin(g())",
            "Box::new(async move { 1 })",
            "h(1)",
        ] {
            assert_eq!(
                form(&format!("fn f() {boxed} {{ {body} }}")),
                None,
                "{body}"
            );
        }
        assert_eq!(form("fn f() -> u8 { Box::pin(async move { 1 }) }"), None);
        assert_eq!(form("async fn f();"), None);
    }

    #[test]
    fn bodies_need_not_be_understood() {
        assert!(form("async fn f() { let x = ; @ 5 + }").is_some());
    }

    #[test]
    fn the_output_is_what_awaiting_gives() {
        for (text, output) in [
            ("async fn f() -> u8 {}", Some("u8")),
            (
                "fn f() -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = u8> + Send + 'x>> {}",
                Some("u8"),
            ),
            ("async fn f() {}", None),
        ] {
            let function: Function = syn::parse_str(text).unwrap();
            let found = function.output().map(|ty| ty.to_token_stream().to_string());
            assert_eq!(found.as_deref(), output, "{text}");
        }
    }

    #[test]
    fn marked_parameters_make_up_the_key_else_all() {
        for (text, key) in [
            (
                "async fn f(&self, a: u8, (b, c): (u8, u8), _: u8, _d: u8) {}",
                vec![Some("a"), None, None, None],
            ),
            (
                "async fn f(a: u8, #[cache_key] mut b: u8, #[x::cache_key(hash)] r#c: u8) {}",
                vec![Some("b"), Some("r#c")],
            ),
            ("async fn f(&self) {}", vec![]),
        ] {
            let mut function: Function = syn::parse_str(text).unwrap();
            let mut errors = Errors::default();
            let params = function.take_params(&mut errors);
            let names: Vec<_> = key_params(&params)
                .map(|param| param.name().map(ToString::to_string))
                .collect();
            assert_eq!(
                names.iter().map(Option::as_deref).collect::<Vec<_>>(),
                key,
                "{text}"
            );
            assert!(
                errors.is_empty() && !function.to_token_stream().to_string().contains("cache_key"),
                "{text}"
            );
        }
    }
}
