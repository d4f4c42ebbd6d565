//! The tokens that stand for the right to store.

use std::fmt;

/// A random 64-bit value that is replaced, never counted up, so that a lost token can never come back as an old one.
///
/// ```
/// use cache_core::backend::Token;
///
/// let token = Token::random();
/// assert_ne!(token, Token::random());
/// assert_eq!(Token::from_bytes(*token.as_bytes()), token); // to a store and back
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; 8]);

impl Token {
    /// The number of bytes of a token.
    pub const LEN: usize = 8;

    /// A token from its bytes, for example as they were read from the store.
    ///
    /// ```
    /// use cache_core::backend::Token;
    ///
    /// /// What a store gave back; `None` if it is no token.
    /// fn token(bytes: &[u8]) -> Option<Token> {
    ///     Some(Token::from_bytes(bytes.try_into().ok()?))
    /// }
    /// assert!(token(&[7; Token::LEN]).is_some());
    /// assert!(token(b"too long for one").is_none());
    /// ```
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// A fresh random token.
    ///
    /// ```
    /// use cache_core::backend::Token;
    ///
    /// assert_ne!(Token::random(), Token::random());
    /// ```
    #[must_use]
    pub fn random() -> Self {
        Self(crate::random::u64().to_le_bytes())
    }

    /// The bytes to keep in the store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:016x})", u64::from_le_bytes(self.0))
    }
}

/// The two tokens that were in force when an entry was looked up: the right to store a value computed after that.
///
/// ```
/// use cache_core::backend::{CacheBackend, CacheId};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
/// let backend = cache_core::testing::MapBackend::new();
/// let cache = CacheId::new("price", "cache:price");
/// let before = backend.load(cache.entry("42")).await?.fence.unwrap();
///
/// backend.invalidate(cache.entry("42")).await?;
/// let after = backend.load(cache.entry("42")).await?.fence.unwrap();
/// assert_ne!(after.stamp, before.stamp);
/// assert_eq!(after.epoch, before.epoch);
///
/// backend.invalidate_all(&cache).await?;
/// assert_ne!(backend.load(cache.entry("42")).await?.fence.unwrap().epoch, before.epoch);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The token of the entry, replaced by [`CacheBackend::invalidate`](super::CacheBackend::invalidate).
    pub stamp: Token,
    /// The token of the cache, replaced by [`CacheBackend::invalidate_all`](super::CacheBackend::invalidate_all).
    pub epoch: Token,
}
