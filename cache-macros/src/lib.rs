//! The attributes of `cache-core`, which re-exports them; add that crate instead of this one.
//!
//! - [`macro@cache_result`]: what the function returned for these arguments is returned again
//! - [`macro@cache_put`]: the function always runs, and its value replaces what is stored
//! - [`macro@cache_invalidate`]: the entry of these arguments is removed
//! - [`macro@cache_invalidate_all`]: all entries of a cache are removed
//!
//! They go on `async` functions and methods: free, inherent, of traits and of their implementations, `#[async_trait]` or not.
//!
//! # Keys
//! The key of an entry is made of the function's arguments: of those marked `#[cache_key]`, in the order of the signature,
//! else of all; `self` is never part of it. Without parameters there is one entry. An argument that is a pattern, `_`
//! included, counts as a whole. `#[cache_key(hash)]` has the argument stored as a digest. Arguments have their values from
//! before the body, and must be `Serialize`. With `key = …` the attribute has a key of its own. The name of the function is
//! not part of the key, so functions of one cache share its entries.
//!
//! # Order
//! In whatever order they are written, on one function this happens: invalidations with `when = "before"` (whole caches
//! first), `cache_result`'s look-up, the body, the store, the other invalidations, whether or not the body had to run. An
//! invalidation of the same cache that the function fills happens before it. All options over the arguments are evaluated
//! before any of this, nothing at all before the future is first polled.

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as TokenStream2};

use crate::{
    args::{Args, Kind},
    fallback::Errors,
    function::{Function, versions::versions},
};

mod args;
mod check;
mod expand;
mod fallback;
mod function;
mod literal;
mod manifest;
mod names;
mod spelling;
mod types;

#[cfg(test)]
mod tests;

/// Returns what is stored for the arguments; else runs the function and stores what it returns.
///
/// `Ok` of a `Result` and plain values are stored, `None` included; `Err` is returned and never stored. Callers that arrive
/// while a value is being loaded wait for it. The value is owned, `Clone + Send + Sync + 'static`, and serde's traits are
/// needed only for a cache on a backend. Return `Arc<T>` where a clone would be dear.
///
/// ```
/// use std::time::Duration;
///
/// use cache_core::{CacheManager, CacheName, cache_result};
///
/// const PRICE: CacheName<u32> = CacheName::new("price");
///
/// struct Shop {
///     tenant: String,
///     caches: CacheManager,
/// }
///
/// impl Shop {
///     // The cache, by name. That much is required.
///     #[cache_result(cache = "product")]
///     async fn product(&self, #[cache_key] id: u64, trace: &str) -> Option<String> {
///         (id < 100).then(|| format!("{id} for {trace}"))
///     }
///
///     // The cache as a `const`: the compiler checks the type of the value.
///     // The key as an expression over the arguments and `self`: a tuple is several parts.
///     #[cache_result(cache = PRICE, key = (&self.tenant, id))]
///     async fn price(&self, id: u64) -> Result<u32, String> {
///         Ok(100)
///     }
///
///     // How long what is stored lives, never longer than the cache's own `ttl`: a literal in `ms`, `s`, `m`, `h`, `d`,
///     // or an expression of type `Duration`.
///     #[cache_result(cache = "stock", ttl = "1m30s")]
///     async fn stock(&self, id: u64) -> u32 {
///         7
///     }
///
///     // The same from the value; zero: do not store.
///     #[cache_result(cache = "token", ttl_with = |token: &(String, u64)| Duration::from_secs(token.1))]
///     async fn token(&self) -> (String, u64) {
///         ("secret".to_owned(), 60)
///     }
///
///     // False: the attribute does nothing for this call.
///     #[cache_result(cache = "page", condition = page < 10)]
///     async fn page(&self, page: usize) -> Vec<u64> {
///         vec![1, 2, 3]
///     }
///
///     // False: returned, not stored. A path will do as well.
///     #[cache_result(cache = "found", store_if = Option::is_some)]
///     async fn find(&self, name: &str) -> Option<u64> {
///         None
///     }
///
///     // How long a caller waits for another's load before it runs the body itself.
///     #[cache_result(cache = "report", lock_timeout = "2s")]
///     async fn report(&self) -> String {
///         "fine".to_owned()
///     }
///
///     // The manager to use instead of the process-wide one.
///     #[cache_result(cache = "own", manager = self.caches)]
///     async fn with_manager(&self, id: u64) -> u64 {
///         id
///     }
///
///     // Where `cache_core` is, if not `::cache_core`.
///     #[cache_result(cache = "renamed", crate = cache_core)]
///     async fn renamed(&self, id: u64) -> u64 {
///         id
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let shop = Shop { tenant: "t".to_owned(), caches: CacheManager::builder().build().unwrap() };
/// assert_eq!(shop.product(1, "first").await.as_deref(), Some("1 for first"));
/// assert_eq!(shop.product(1, "second").await.as_deref(), Some("1 for first"));
/// # assert_eq!(shop.price(1).await, Ok(100));
/// # assert_eq!(shop.stock(1).await + shop.report().await.len() as u32, 11);
/// # assert_eq!(shop.token().await.1 + shop.page(1).await[0] + shop.with_manager(1).await + shop.renamed(1).await, 63);
/// # assert_eq!(shop.find("x").await, None);
/// # }
/// ```
#[proc_macro_attribute]
pub fn cache_result(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Result, args.into(), item.into()).into()
}

/// Runs the function and stores what it returns in place of what was there.
///
/// A call that returns `Err` leaves the entry alone; one that was interrupted, by a panic or because its future was dropped, may
/// have written: the entry is removed, and with `key_with` the whole cache. What can be stored is as for [`macro@cache_result`], and so are the
/// options `cache`, `key`, `ttl`, `ttl_with`, `condition`, `store_if`, `manager` and `crate`. Beside them there is
/// `key_with`, for a key that only the value knows; a tuple is several parts.
///
/// ```
/// use cache_core::{cache_put, cache_result};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Product {
///     id: u64,
///     name: String,
/// }
///
/// #[cache_put(cache = "product", key_with = |product: &Product| product.id)]
/// async fn create(name: &str) -> Result<Product, String> {
///     Ok(Product { id: 7, name: name.to_owned() })
/// }
///
/// #[cache_put(cache = "product", ttl = "1h", store_if = |product: &Product| !product.name.is_empty())]
/// async fn rename(#[cache_key] id: u64, name: &str) -> Product {
///     Product { id, name: name.to_owned() }
/// }
///
/// #[cache_result(cache = "product")]
/// async fn product(id: u64) -> Option<Product> {
///     None
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(create("lamp").await.unwrap().id, 7);
/// assert_eq!(rename(7, "desk lamp").await.name, "desk lamp");
/// # }
/// ```
#[proc_macro_attribute]
pub fn cache_put(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Put, args.into(), item.into()).into()
}

/// Removes the entry of the arguments, so that the next reader loads it anew.
///
/// It may be given several times, for several caches; every one runs, even if another fails. The options `cache`, `key`,
/// `condition`, `manager` and `crate` are those of [`macro@cache_result`], `key_with` is that of [`macro@cache_put`].
///
/// - `when = "success"`, the default: after a body that returned `Ok` or a plain value
/// - `when = "always"`: after one that returned `Err` as well
/// - `when = "before"`: before the body
/// - `invalidate_if = |value: &V| …`: not if the value of a successful body says so
///
/// A body that was interrupted, by a panic or because its future was dropped, may have written: the entry is removed, and
/// where `key_with` could not say which, all of the cache.
///
/// ```
/// use cache_core::{cache_invalidate, cache_result};
///
/// #[cache_result(cache = "price")]
/// async fn price(id: u64) -> u32 {
///     100
/// }
///
/// #[cache_invalidate(cache = "price")]
/// #[cache_invalidate(cache = "price-list", key = (tenant, "all"), when = "always")]
/// async fn set_price(#[cache_key] id: u64, tenant: &str, price: u32) -> Result<(), String> {
///     if price == 0 { Err("a price is more than zero".to_owned()) } else { Ok(()) }
/// }
///
/// #[cache_invalidate(cache = "price", key_with = |sold: &Option<u64>| *sold, invalidate_if = Option::is_some)]
/// async fn sell_any() -> Option<u64> {
///     Some(7)
/// }
///
/// // Beside `cache_result` on the same cache it comes first: a reader that never takes what is stored, but renews it.
/// #[cache_result(cache = "price")]
/// #[cache_invalidate(cache = "price")]
/// async fn fresh_price(id: u64) -> u32 {
///     101
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(price(1).await, 100);
/// assert_eq!(set_price(1, "t", 90).await, Ok(()));
/// assert_eq!(sell_any().await, Some(7));
/// assert_eq!(fresh_price(1).await, 101);
/// assert_eq!(price(1).await, 101);
/// # }
/// ```
#[proc_macro_attribute]
pub fn cache_invalidate(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Invalidate, args.into(), item.into()).into()
}

/// Removes all entries of a cache, at the same cost for ten as for ten million.
///
/// The options are those of [`macro@cache_invalidate`] without the ones about keys: `cache`, `condition`, `when`,
/// `invalidate_if`, `manager` and `crate`.
///
/// ```
/// use cache_core::{cache_invalidate_all, cache_result};
///
/// #[cache_result(cache = "store-products-catalog")]
/// async fn categories() -> Vec<String> {
///     vec!["lamps".to_owned()]
/// }
///
/// #[cache_invalidate_all(cache = "store-products-catalog", invalidate_if = |changed| *changed > 0)]
/// async fn import(rows: &[String]) -> Result<usize, String> {
///     Ok(rows.len())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(categories().await.len(), 1);
/// assert_eq!(import(&["chairs".to_owned()]).await, Ok(1));
/// # }
/// ```
#[proc_macro_attribute]
pub fn cache_invalidate_all(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::InvalidateAll, args.into(), item.into()).into()
}

/// From the attribute that runs first, and the item under it, to what the compiler sees.
fn attribute(kind: Kind, args: TokenStream2, item: TokenStream2) -> TokenStream2 {
    if expand::is_kept(&args) {
        return TokenStream2::new();
    }
    let Ok(function) = syn::parse2::<Function>(item.clone()) else {
        let mut errors = Errors::default();
        let message = format!("`{}` goes on an async function", kind.name());
        errors.at_span(Span::call_site(), message);
        return fallback::item(errors, &item);
    };
    versions(function)
        .into_iter()
        .map(|version| expanded(kind, args.clone(), version))
        .collect()
}

fn expanded(kind: Kind, args: TokenStream2, mut function: Function) -> TokenStream2 {
    let mut errors = Errors::default();
    let mut layers = vec![Args::running(kind, args, &mut errors)];
    layers.extend(function.take_attributes(&mut errors));
    let params = function.take_params(&mut errors);
    check::check(&function, &params, &layers, &mut errors);
    match function.form() {
        Some(form) if errors.is_empty() => expand::expand(function, &params, &form, layers),
        _ => fallback::function(errors, function, &layers),
    }
}
