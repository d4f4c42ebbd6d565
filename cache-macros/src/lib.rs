//! The attributes of `cache-core`.

use proc_macro::TokenStream;

mod args;
mod check;
mod expand;
mod fallback;
mod function;
mod literal;
mod types;

use args::Kind;

#[proc_macro_attribute]
#[allow(missing_docs)]
pub fn cache_result(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(Kind::Result, args.into(), item.into()).into()
}

#[proc_macro_attribute]
#[allow(missing_docs)]
pub fn cache_put(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(Kind::Put, args.into(), item.into()).into()
}

#[proc_macro_attribute]
#[allow(missing_docs)]
pub fn cache_invalidate(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(Kind::Invalidate, args.into(), item.into()).into()
}

#[proc_macro_attribute]
#[allow(missing_docs)]
pub fn cache_invalidate_all(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(Kind::InvalidateAll, args.into(), item.into()).into()
}
