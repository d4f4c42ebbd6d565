//! How a function is asynchronous.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{
    Path, ReturnType, Token, Type, braced,
    parse::{ParseStream, Parser},
    spanned::Spanned,
    token::Brace,
};

use super::{Body, Function};
use crate::{expand::hygienic, spelling::boxed_output};

/// How the function is asynchronous.
pub(crate) enum Form {
    /// `async fn f() -> R { statements }`
    Async { body: AsyncBlock },
    /// `fn f() -> Pin<Box<dyn Future<Output = R>>> { before Box::pin(async move { … }) }`, written by hand, or by
    /// `#[async_trait]`, which rewrites an async method before the attributes on it run.
    Boxed {
        before: TokenStream,
        pin: TokenStream,
        body: AsyncBlock,
    },
}

/// `async { statements }`
pub(crate) struct AsyncBlock {
    asyncness: Token![async],
    brace: Brace,
    pub(crate) statements: TokenStream,
}

impl AsyncBlock {
    /// An `async move` block of other tokens. It passes for the user's, so that lints say of what is in it what they say of any
    /// function, and other attributes take the names in it for the user's.
    pub(crate) fn around(&self, tokens: &TokenStream) -> TokenStream {
        let braced = self.braced(tokens);
        quote_spanned!(self.asyncness.span=> async move #braced)
    }

    /// The same braces around other tokens.
    pub(crate) fn braced(&self, tokens: &TokenStream) -> TokenStream {
        let mut block = TokenStream::new();
        self.brace
            .surround(&mut block, |within| tokens.to_tokens(within));
        block
    }
}

impl Function {
    /// How the function is asynchronous, if it is and has a body.
    pub(crate) fn form(&self) -> Option<Form> {
        let Body::Block {
            brace, statements, ..
        } = &self.body
        else {
            return None;
        };
        if let Some(asyncness) = self.sig.asyncness {
            return Some(Form::Async {
                body: AsyncBlock {
                    asyncness,
                    brace: *brace,
                    statements: statements.clone(),
                },
            });
        }
        if !matches!(&self.sig.output, ReturnType::Type(_, ty) if is_path(ty)) {
            return None;
        }
        let (before, pin, call) = split_tail(statements)?;
        Path::parse_mod_style.parse2(pin.clone()).ok()?;
        let body = async_block.parse2(call.stream()).ok()?;
        Some(Form::Boxed { before, pin, body })
    }

    /// The type that awaiting the function gives; `None` if it is not spelt, that is, `()`.
    pub(super) fn find_output(&self) -> Option<Type> {
        let ReturnType::Type(_, ty) = &self.sig.output else {
            return None;
        };
        if self.sig.asyncness.is_some() {
            return Some((**ty).clone());
        }
        if let Some(output) = boxed_output(ty) {
            return Some(output.clone());
        }
        if self.form().is_some() {
            // An alias, `BoxFuture<'_, R>` perhaps. What it stands for only the compiler knows.
            let span = hygienic(ty.span());
            return Some(Type::Verbatim(
                quote_spanned!(span=> <#ty as ::core::future::Future>::Output),
            ));
        }
        Some((**ty).clone())
    }
}

fn is_path(ty: &Type) -> bool {
    match ty {
        Type::Path(_) => true,
        Type::Group(group) => is_path(&group.elem),
        _ => false,
    }
}

/// `statements`, `Box::pin` and `(…)`, of statements that end in that call.
fn split_tail(statements: &TokenStream) -> Option<(TokenStream, TokenStream, Group)> {
    let is = |tree: &TokenTree, c| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == c);
    let mut trees: Vec<TokenTree> = statements.clone().into_iter().collect();
    let returned = trees.pop_if(|last| is(last, ';')).is_some();
    let TokenTree::Group(call) = trees.pop()? else {
        return None;
    };
    let mut start = trees.len();
    loop {
        if start > 0 && matches!(&trees[start - 1], TokenTree::Ident(ident) if ident != "return") {
            start -= 1;
        }
        if start < 2 || !is(&trees[start - 1], ':') || !is(&trees[start - 2], ':') {
            break;
        }
        start -= 2;
    }
    let pin = trees.split_off(start);
    let is_pin = matches!(pin.last(), Some(TokenTree::Ident(ident)) if ident == "pin");
    if returned {
        trees.pop_if(|last| matches!(last, TokenTree::Ident(ident) if ident == "return"))?;
    }
    // What comes before has to be whole statements.
    let whole = trees.last().is_none_or(|last| {
        is(last, ';')
            || matches!(last, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    });
    (is_pin && whole && call.delimiter() == Delimiter::Parenthesis)
        .then(|| (trees.into_iter().collect(), pin.into_iter().collect(), call))
}

/// `async move { … }`
fn async_block(input: ParseStream<'_>) -> syn::Result<AsyncBlock> {
    let asyncness = input.parse()?;
    input.parse::<Option<Token![move]>>()?;
    let content;
    let brace = braced!(content in input);
    let statements = content.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(AsyncBlock {
        asyncness,
        brace,
        statements,
    })
}
